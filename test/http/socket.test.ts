import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { boundedServer, site } from '../../src/http/index.ts'
import { mount } from '../../src/mcp/mount.ts'
import { DAEMON_PROTOCOL, policy } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { WELL } from './serve.ts'

const home = mkdtempSync(join(tmpdir(), 'hf-sock-'))
const path = join(home, 'daemon.sock')
const here = site({
  version: '1.2.3',
  startedAt: 0,
  health: () => WELL,
  sessions: async () => [],
  ready: async () => {},
  mcp: () => mount({ assets: 'dist', home: join(home, 'home'), version: '1.2.3', tell: () => {}, isThere: () => true }),
  log: () => {},
})
const server = boundedServer(here.onSocket)
beforeAll(() => new Promise<void>((ready) => server.listen(path, ready)))
afterAll(async () => {
  await here.close()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
  rmSync(home, { recursive: true })
})

function ask(url: string, headers: Record<string, string> = {}, body?: unknown): Promise<{ status: number; json: unknown }> {
  const method = body === undefined ? 'GET' : 'POST'
  return new Promise((answered, failed) => {
    const asking = request({ socketPath: path, path: url, method, headers, agent: false }, (response) => {
      let text = ''
      response.on('data', (part: Buffer) => {
        text += part.toString()
      })
      response.on('end', () => answered({ status: response.statusCode ?? 0, json: JSON.parse(text.replace(/^[\s\S]*?data: /, '')) }))
    })
    asking.on('error', failed)
    asking.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

test('in its private folder no token and no host is asked for, and other versions are told', async () => {
  expect(await ask('/healthz', { host: 'whatever' })).toEqual({ status: 200, json: { ...WELL, at: '1970-01-01T00:00:00.001Z' } })
  expect(await ask('/version', { 'holdfast-protocol': String(DAEMON_PROTOCOL) })).toMatchObject({ status: 200 })
  expect(await ask('/version', { 'holdfast-protocol': '99' })).toMatchObject({ status: 426, json: { daemon: { protocol: DAEMON_PROTOCOL } } })
})

verifies('bounded', 'however many are connected and say nothing, who asks is answered', async () => {
  const silent = Array.from({ length: policy.httpConnections + 72 }, () => connect(path).on('error', () => {}))
  try {
    await Promise.all(silent.map((socket) => socket.readyState === 'open' || new Promise((done) => socket.once('connect', done).once('close', done))))
    for (let times = 0; times < 3; times++) expect(await ask('/healthz')).toMatchObject({ status: 200 })
    const count = await new Promise<number>((told) => server.getConnections((_, many) => told(many)))
    expect(count).toBeLessThanOrEqual(policy.httpConnections)
  } finally {
    for (const socket of silent) socket.destroy()
  }
})

verifies('unknown', 'who asks over it cannot be told: it may look, and nothing is done for it', async () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const call = async (name: string, args: object): Promise<unknown> =>
    ((await ask('/mcp', headers, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })).json as { result: unknown })
      .result
  expect(await call('whoami', {})).toMatchObject({
    structuredContent: { session: null, why: expect.stringContaining('nobody can tell who asks') as string },
  })
  expect(await call('siblings', {})).toMatchObject({ structuredContent: { self: null, total: 0 } })
  for (const [name, args] of [
    ['lock', { dir: home }],
    ['unlock', { dir: home }],
    ['report', { kind: 'plan', text: 'x' }],
    ['message', { to: '@all', text: 'x' }],
    ['inbox', {}],
    ['start_task', { command: ['true'] }],
  ] as const)
    expect(await call(name, args), name).toMatchObject({ isError: true, structuredContent: { error: 'unproven', id: 'caller-unknown', code: 76 } })
})
