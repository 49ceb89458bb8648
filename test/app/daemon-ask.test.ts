import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { askDaemon } from '../../src/app/index.ts'
import { DAEMON_PROTOCOL, type DaemonAnswer, type DaemonFiles } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

/** What is understood of a daemon that answers so. */
async function asked(listener: RequestListener, ms = 5_000): Promise<DaemonAnswer> {
  const folder = mkdtempSync(join(tmpdir(), 'hf-ask-'))
  const socket = join(folder, 'sock')
  const server = createServer(listener)
  await new Promise<void>((ready) => server.listen(socket, ready))
  try {
    return await askDaemon({ folder, socket } as unknown as DaemonFiles, ms)
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
const answering =
  (status: number, body: unknown): RequestListener =>
  (_, response) =>
    void response.writeHead(status).end(JSON.stringify(body))

test('each request says which protocol it expects', async () => {
  let headers: IncomingHttpHeaders = {}
  const health = {
    at: 1,
    healthy: false,
    why: 'x: y',
    parts: [{ name: 'x', lastSuccess: null, failures: 1, lastError: 'y', nextTry: '2026-01-01T00:00:00.000Z', counts: { n: 1 } }],
  }
  const answer = await asked((request, response) => {
    headers = request.headers
    answering(503, health)(request, response)
  })
  expect(headers).toMatchObject({ 'holdfast-protocol': String(DAEMON_PROTOCOL) })
  expect(answer).toEqual({ kind: 'health', health: { ...health, parts: [{ ...health.parts[0], nextTry: Date.UTC(2026, 0, 1) }] } })
})

verifies('visible', 'one of another protocol is told as such, and never understood wrong', async () => {
  expect(await asked(answering(426, { version: '9.0.0', protocol: 7 }))).toEqual({ kind: 'other', version: '9.0.0', protocol: 7 })
  expect(await asked(answering(426, 'nothing'))).toEqual({ kind: 'other', version: null, protocol: null })
})

verifies('bounded', 'one that says nothing, or nonsense, or too much, is silent', async () => {
  expect(await asked(() => {}, 50)).toEqual({ kind: 'silent', why: 'no answer within 50 ms' })
  expect(await asked((request) => request.socket.destroy())).toMatchObject({ kind: 'silent' })
  expect(await asked(answering(200, { healthy: 'yes' }))).toMatchObject({ kind: 'silent', why: 'it answered 200, and nothing that makes sense' })
  expect(await asked((_, response) => void response.end('x'.repeat(3_000_000)))).toMatchObject({ kind: 'silent' })
  expect(await askDaemon({ folder: '/nowhere', socket: '/nowhere/sock' } as unknown as DaemonFiles, 50)).toEqual({
    kind: 'silent',
    why: 'ENOENT',
  })
})
