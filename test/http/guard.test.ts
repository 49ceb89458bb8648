import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { boundedServer } from '../../src/http/index.ts'
import { DAEMON_PROTOCOL, policy } from '../../src/model/index.ts'
import { until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'
import { type Served, serving, TOKEN, WELL } from './serve.ts'

let here: Served
beforeAll(async () => {
  here = await serving()
})
afterAll(() => here.close())

verifies('private', 'every path needs the token, and says where it lies', async () => {
  for (const path of ['/healthz', '/version', '/metrics', '/mcp', '/nothing']) {
    const answer = await here.ask({ path, headers: { authorization: null } })
    expect(answer.status, path).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="holdfast"')
    expect(answer.json()).toMatchObject({ error: 'a token is needed', hint: expect.stringContaining('daemon/token') as string })
    expect(answer.text).not.toContain(here.home)
    expect(answer.text).not.toContain(TOKEN)
  }
  for (const authorization of [
    'Bearer',
    'Bearer ',
    `Basic ${TOKEN}`,
    `Bearer ${TOKEN.slice(1)}`,
    `Bearer ${TOKEN}0`,
    `Bearer ${TOKEN.toUpperCase()}`,
    TOKEN,
  ])
    expect((await here.ask({ headers: { authorization } })).status, authorization).toBe(401)
  expect((await here.ask({ path: `/healthz?token=${TOKEN}`, headers: { authorization: null } })).status).toBe(401)
  expect((await here.ask({ headers: { authorization: `bearer ${TOKEN}` } })).status).toBe(200)
})

verifies('private', 'a name that was made to lead here (DNS rebinding) is refused, with and without the token', async () => {
  const { port } = here
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LocalHost:${port}`, `[::1]:${port}`])
    expect((await here.ask({ headers: { host } })).status, host).toBe(200)
  const strange = [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    'localhost',
    `127.0.0.1:${port + 1}`,
    `0.0.0.0:${port}`,
    `127.0.0.2:${port}`,
    `localhost.:${port}`,
    `127.0.0.1:${port}, evil.example`,
    `localhost:${port}.evil.example`,
  ]
  for (const host of strange) {
    expect((await here.ask({ headers: { host } })).status, host).toBe(403)
    expect((await here.ask({ headers: { host, authorization: null } })).status, host).toBe(403)
  }
  expect((await here.ask({ path: `http://evil.example:${port}/healthz` })).status).toBe(403)
  expect((await by(port, `GET /healthz HTTP/1.0\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`)).split('\r\n')[0]).toMatch(/ 403 /)
  // Two of them: whichever an intermediary believes, this is not a request of ours.
  expect(
    (await by(port, `GET /healthz HTTP/1.1\r\nHost: evil.example\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`)).split(
      '\r\n',
    )[0],
  ).toMatch(/ 4\d\d /)
})

verifies('private', 'pages of other origins are refused, and nobody is let in across origins', async () => {
  const own = `http://127.0.0.1:${here.port}`
  expect((await here.ask({ headers: { origin: own, 'sec-fetch-site': 'same-origin' } })).status).toBe(200)
  expect((await here.ask({ headers: { 'sec-fetch-site': 'none' } })).status).toBe(200)
  for (const origin of [
    'null',
    'https://evil.example',
    `http://localhost:${here.port}`,
    `https://127.0.0.1:${here.port}`,
    `${own}/`,
    'http://127.0.0.1',
    '',
  ])
    expect((await here.ask({ headers: { origin } })).status, origin).toBe(403)
  for (const site of ['cross-site', 'same-site', 'anything']) expect((await here.ask({ headers: { 'sec-fetch-site': site } })).status, site).toBe(403)
  const preflight = await here.ask({
    method: 'OPTIONS',
    path: '/mcp',
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
  })
  expect(preflight.status).toBe(403)
  for (const { headers } of [preflight, await here.ask({ headers: { origin: own } })]) {
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  }
})

test('a command of another version is told so; who says nothing of it is served', async () => {
  expect((await here.ask({ headers: { 'holdfast-protocol': String(DAEMON_PROTOCOL) } })).status).toBe(200)
  for (const protocol of [String(DAEMON_PROTOCOL + 1), '0', '', '1.0']) {
    const answer = await here.ask({ headers: { 'holdfast-protocol': protocol } })
    expect(answer.status, protocol).toBe(426)
    expect(answer.json()).toMatchObject({ error: expect.any(String) as string, daemon: { version: '1.2.3', protocol: DAEMON_PROTOCOL } })
  }
})

test('what is not there is 404, what cannot be done there 405', async () => {
  expect(await here.ask({ path: '/nothing' })).toMatchObject({ status: 404, headers: { 'content-type': 'application/json' } })
  for (const path of ['/healthz/', '/HEALTHZ', '//healthz', '/%68ealthz/x']) expect((await here.ask({ path })).status, path).toBe(404)
  for (const path of ['/healthz', '/version', '/metrics'])
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await here.ask({ path, method }), `${method} ${path}`).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  expect((await here.ask({ path: '/mcp', method: 'PUT' })).headers.allow).toBe('POST, GET, DELETE')
  expect(await here.ask({ method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
})

test('health is 200 or 503, with the whole of it; and the version', async () => {
  expect((await here.ask()).json()).toEqual({ ...WELL, at: '1970-01-01T00:00:00.001Z' })
  const ill = { ...WELL, healthy: false, why: 'reconcile: no' }
  const elsewhere = await serving(() => ({ health: () => ill }))
  try {
    const answer = await elsewhere.ask()
    expect(answer.status).toBe(503)
    expect(answer.json()).toEqual({ ...ill, at: '1970-01-01T00:00:00.001Z' })
  } finally {
    await elsewhere.close()
  }
  expect((await here.ask({ path: '/version' })).json()).toEqual({
    version: '1.2.3',
    protocol: DAEMON_PROTOCOL,
    pid: process.pid,
    startedAt: '2023-11-14T22:13:20.000Z',
  })
})

verifies('bounded', 'a long body is refused, announced or not', async () => {
  const long = 'x'.repeat(policy.httpBodyBytes + 1)
  expect(
    (
      await here.ask({
        path: '/mcp',
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': String(long.length) },
        body: long,
      })
    ).status,
  ).toBe(413)
  const chunked = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  expect((await here.ask({ path: '/mcp', method: 'POST', headers: chunked, body: long })).status).toBe(413)
  expect((await here.ask()).status).toBe(200)
})

verifies('bounded', 'a slow client is let go, and others are served meanwhile', async () => {
  const began = performance.now()
  const slow = drip(here.port, 'GET /healthz HTTP/1.1\r\nX-Slow: ')
  const half = drip(
    here.port,
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${here.port}\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
  )
  expect((await here.ask()).status).toBe(200)
  await slow
  expect(performance.now() - began).toBeLessThan(policy.httpHeadMs + 2 * policy.httpCheckMs + 60_000)
  await half
  expect(performance.now() - began).toBeLessThan(policy.httpRequestMs + 2 * policy.httpCheckMs + 60_000)
  expect(performance.now() - began).toBeGreaterThan(policy.httpRequestMs - 100)
})

verifies('bounded', 'only so many connections are kept: those that say nothing go first', async () => {
  const sockets = await Promise.all(Array.from({ length: policy.httpConnections + 20 }, () => opened(here.port)))
  try {
    for (const socket of sockets) socket.resume()
    await expect.poll(() => sockets.filter(({ closed }) => closed).length, { timeout: 30_000 }).toBeGreaterThanOrEqual(20)
    expect((await here.ask()).status).toBe(200)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})

verifies('bounded', 'a client that does not read is let go; one that hears something now and then is not', async () => {
  let written = 0
  const server = boundedServer((request, response) => {
    const timer = setInterval(() => {
      const part = request.url === '/much' ? MUCH : ':\n'
      written += part.length
      response.write(part)
    }, PART_MS)
    response.once('close', () => clearInterval(timer))
  })
  // A minute, otherwise.
  expect(server.timeout).toBe(policy.httpIdleMs)
  server.timeout = IDLE_MS
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  const asking = (path: string): Socket => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`))
    return socket.on('error', () => {})
  }
  const deaf = asking('/much').pause()
  const quiet = asking('/little')
  let heard = 0
  quiet.on('data', () => heard++)
  try {
    await until('something to be written', () => written > 1_000_000)
    await until('the deaf one to be let go', async () => (await connectionsOf(server)) === 1)
    const before = heard
    await until('the quiet one to hear more, for longer than a client may be silent', () => (heard - before) * PART_MS > 2 * IDLE_MS)
    expect([await connectionsOf(server), quiet.destroyed]).toEqual([1, false])
  } finally {
    deaf.destroy()
    quiet.destroy()
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
})
const PART_MS = 100
const IDLE_MS = 2_000
const MUCH = 'x'.repeat(1_000_000)
const connectionsOf = (server: Server): Promise<number> => new Promise((told) => server.getConnections((_error, count) => told(count)))

const opened = (port: number): Promise<ReturnType<typeof connect>> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(socket))
    socket.on('error', () => done(socket))
  })

/** What is answered to these very bytes. */
const by = (port: number, text: string): Promise<string> =>
  new Promise((done) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (part: Buffer) => {
      answer += part.toString()
      socket.end()
    })
    socket.on('error', () => {})
    socket.once('close', () => done(answer))
  })

/** A byte now and then, for ever: resolved when it is let go. */
function drip(port: number, head: string): Promise<void> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(head))
    const timer = setInterval(() => socket.write('x'), 200)
    socket.on('error', () => {})
    socket.resume()
    socket.once('close', () => {
      clearInterval(timer)
      done()
    })
  })
}
