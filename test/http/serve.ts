import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Listening, listen, type SiteOptions, site } from '../../src/http/index.ts'
import { mount } from '../../src/mcp/mount.ts'
import type { DaemonHealth } from '../../src/model/index.ts'

export const TOKEN = 'ab'.repeat(32)
export const WELL: DaemonHealth = { at: 1, healthy: true, why: null, parts: [] }

export type Served = {
  readonly port: number
  readonly home: string
  readonly told: string[]
  ask(asked?: Asked): Promise<Answer>
  close(): Promise<void>
}
export type Asked = Omit<RequestOptions, 'headers'> & { readonly headers?: Record<string, string | null>; readonly body?: string }
export type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string; json(): unknown }

/** The site on loopback, in a home of its own. */
export async function serving(options: (home: string, tell: (line: string) => void) => Partial<SiteOptions> = () => ({})): Promise<Served> {
  const home = mkdtempSync(join(tmpdir(), 'hf-http-'))
  const told: string[] = []
  const tell = (line: string): void => void told.push(line)
  const served = site({
    version: '1.2.3',
    startedAt: 1_700_000_000_000,
    health: () => WELL,
    sessions: async () => [],
    ready: async () => {},
    mcp: () => mount({ assets: 'dist', home, version: '1.2.3', tell, isThere: () => true }),
    log: tell,
    ...options(home, tell),
  })
  const door: Listening = await listen(0, (port) => served.onLoopback(port, TOKEN))
  return {
    port: door.port,
    home,
    told,
    ask: (asked = {}) => ask(door.port, asked),
    async close() {
      await served.close()
      await door.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** With the token and the right host, unless it is told otherwise; null leaves a header out. */
function ask(port: number, { headers = {}, body, ...options }: Asked): Promise<Answer> {
  const all = { authorization: `Bearer ${TOKEN}`, host: `127.0.0.1:${port}`, ...headers }
  const given = Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
  return new Promise((answered, failed) => {
    const asking = request({ host: '127.0.0.1', port, path: '/healthz', agent: false, setHost: false, ...options, headers: given }, (response) => {
      let text = ''
      response.on('data', (part: Buffer) => {
        text += part.toString()
      })
      response.on('end', () =>
        answered({ status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) as unknown }),
      )
      response.on('error', failed)
    })
    asking.on('error', failed)
    asking.setTimeout(20_000, () => asking.destroy(new Error('no answer')))
    asking.end(body)
  })
}
