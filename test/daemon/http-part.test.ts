import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { daemonToken } from '../../src/app/index.ts'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { httpPart } from '../../src/daemon/parts/http-part.ts'
import { verifies } from '../requirements.ts'

const knock = (at: string): Promise<string> =>
  new Promise((told) => {
    request(at, { agent: false }, (response) => void response.resume().once('end', () => told(`${response.statusCode}`)))
      .once('error', ({ code }: NodeJS.ErrnoException) => told(String(code)))
      .end()
  })

verifies('private', 'who changes the token locks everybody out, also where that cannot be written down', async () => {
  const home = mkdtempSync(join(tmpdir(), 'hf-http-'))
  let at = ''
  const daemon = {
    home,
    files: { port: () => 0, keepPort: () => true },
    worlds: { use: async (body: (world: unknown) => unknown) => body({ daemonPort: () => null }) },
    site: { onLoopback: () => (_: unknown, response: { end(text: string): void }) => response.end('in'), close: async () => {} },
    listening: (http: string | null) => {
      if (http === null) throw new Error('ENOSPC')
      at = http
    },
    log: () => {},
  }
  const part = httpPart(daemon as unknown as Daemon)
  try {
    mkdirSync(join(home, 'daemon'), { mode: 0o700 })
    daemonToken(home)
    await part.round()
    expect(await knock(at)).toBe('200')
    const former = at
    rmSync(join(home, 'daemon', 'token'))
    await expect(part.round()).rejects.toThrow('ENOSPC')
    expect(await knock(former)).toBe('ECONNREFUSED')
    await part.round()
    expect(await knock(at)).toBe('200')
  } finally {
    await part.close?.().catch(() => {})
    rmSync(home, { recursive: true })
  }
})
