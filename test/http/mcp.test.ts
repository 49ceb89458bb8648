import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onBehalfOf, openWorld, speakerOf, type World } from '../../src/app/index.ts'
import { mount } from '../../src/mcp/mount.ts'
import { Problem } from '../../src/model/index.ts'
import { unable, until } from '../real/lab.ts'
import { aClaim, aRun } from '../record/examples.ts'
import { type Served, serving, TOKEN } from './serve.ts'

let here: Served
let mounted: ReturnType<typeof mount> | null = null
beforeAll(async () => {
  here = await serving((home, tell) => ({
    mcp: () => {
      mounted = mount({ assets: 'dist', home, version: '1.2.3', tell, isThere: () => true })
      return mounted
    },
  }))
})
afterAll(() => here.close())

type Mode = 'legacy' | { readonly pin: '2026-07-28' }
const ERAS: readonly (readonly [string, Mode])[] = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
]

async function connected(mode: Mode): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${here.port}/mcp`), { requestInit }))
  return client
}

describe.each(ERAS)('in the era of %s', (version, mode) => {
  test('the official client sees all tools, and is told who it is', async () => {
    const client = await connected(mode)
    try {
      expect(client.getNegotiatedProtocolVersion()).toBe(version)
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['whoami', 'lock', 'start_task']))
      // This very process has both ends: one holder, in no session.
      expect(await client.callTool({ name: 'whoami', arguments: {} })).toMatchObject({ structuredContent: { session: null } })
      expect(await client.callTool({ name: 'status', arguments: { session: 'nobody' } })).toMatchObject({
        isError: true,
        structuredContent: { id: 'session-unknown', code: 66 },
      })
      expect((await client.readResource({ uri: 'holdfast://events' })).contents).toMatchObject([{ text: '[]' }])
      expect(client.getServerCapabilities()?.resources).toMatchObject({ subscribe: mode !== 'legacy' })
      expect(here.told).toEqual([])
    } finally {
      await client.close()
    }
  })
})

test('as long as nothing can be done for anybody, that is told', async () => {
  const elsewhere = await serving(() => ({ ready: () => Promise.reject(new Problem('home-gone', 'the home was removed', { hint: 'make one' })) }))
  try {
    const answer = await elsewhere.ask({ path: '/mcp', method: 'POST', body: '{}' })
    expect(answer.status).toBe(503)
    expect(answer.json()).toEqual({ error: 'the home was removed', id: 'home-gone', hint: 'make one' })
    expect((await elsewhere.ask()).status).toBe(200)
  } finally {
    await elsewhere.close()
  }
})

test('without the token there is no client', async () => {
  const client = new Client({ name: 'test', version: '1' })
  await expect(client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${here.port}/mcp`)))).rejects.toThrow()
})

test('what is no message is refused, and breaks nothing', async () => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  for (const body of [
    '',
    '{',
    '[]',
    '"x"',
    '{"jsonrpc":"2.0"}',
    '\0',
    '{"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":7}}}',
  ])
    expect((await here.ask({ path: '/mcp', method: 'POST', headers, body })).status, body).toBeGreaterThanOrEqual(400)
  expect((await here.ask({ path: '/mcp', method: 'POST', headers: { ...headers, 'content-type': 'text/plain' }, body: '{}' })).status).toBe(415)
  const refused = { status: 405, headers: { allow: 'POST' } }
  expect(await here.ask({ path: '/mcp', method: 'GET', headers: { accept: 'text/event-stream' } })).toMatchObject(refused)
  expect(await here.ask({ path: '/mcp', method: 'DELETE' })).toMatchObject(refused)
})

test.each(['text/event-stream', 'application/json'])(
  'an answer as %s is kept by nobody, and ends the connection when it is asked to',
  async (type) => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    })
    const asked = { path: '/mcp', method: 'POST', body: type === 'application/json' ? '{' : body }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const closed = await here.ask({ ...asked, headers: { ...headers, connection: 'close' } })
    expect(closed.headers['content-type']).toContain(type)
    expect(closed.headers).toMatchObject({ connection: 'close', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    const kept = await here.ask({ ...asked, headers: { ...headers, connection: 'keep-alive' } })
    expect(kept.headers).toMatchObject({ connection: 'keep-alive', 'cache-control': 'no-store' })
  },
)

describe('who has the other end', () => {
  let world: World
  beforeAll(() => {
    world = openWorld({ assets: 'dist', home: here.home })
  })
  afterAll(() => world.close())
  const ends = (remote: number) => ({ local: { address: '127.0.0.1', port: here.port }, remote: { address: '127.0.0.1', port: remote } })
  const isOpen = (): boolean => true

  test('is one process, by its birth, with those it was started from', async () => {
    const child = spawn(process.execPath, ['-e', SPEAKS, String(here.port), '1'], { stdio: ['pipe', 'pipe', 'inherit'] })
    try {
      const port = Number(await line(child))
      const speaker = await speakerOf(world, ends(port), isOpen)
      expect(speaker).toMatchObject({ kind: 'process' })
      expect(speaker.kind === 'process' && speaker.origins.map(({ pid }) => pid)).toEqual([
        child.pid,
        ...world.processes.origins().map(({ pid }) => pid),
      ])
      const { env, processes } = onBehalfOf({ ...world, env: { SECRET: 'ours' } }, speaker)
      expect(env['SECRET']).toBeUndefined()
      expect(env['PATH']).toBe(process.env['PATH'])
      expect(processes.origins().slice(1)[0]?.pid).toBe(child.pid)
      expect(await speakerOf(world, ends(port), () => false)).toMatchObject({ kind: 'unknown', why: 'the connection was closed meanwhile' })
    } finally {
      child.kill('SIGKILL')
    }
  })

  test('is nobody when more than one has it, or none any more', async () => {
    const child = spawn(process.execPath, ['-e', SPEAKS, String(here.port), '2'], { stdio: ['pipe', 'pipe', 'inherit'] })
    let port = 0
    try {
      port = Number(await line(child))
      const speaker = await speakerOf(world, ends(port), isOpen)
      expect(speaker).toMatchObject({ kind: 'unknown', why: expect.stringMatching(/^2 processes have the other end/) as string })
      const strange = onBehalfOf(world, speaker)
      expect(strange.env).toEqual({})
      expect(strange.processes.origins()).toEqual([])
      expect(strange.processes.marker(process.pid)).toBeNull()
    } finally {
      child.stdin.end()
      await new Promise((gone) => child.once('exit', gone))
    }
    expect(await speakerOf(world, ends(port), isOpen)).toMatchObject({ kind: 'unknown', why: expect.stringMatching(/^no process/) as string })
    expect(await speakerOf(world, ends(1), isOpen)).toMatchObject({ kind: 'unknown' })
  })

  test('is nobody in another pid namespace', async () => {
    const apart = ['unshare', process.getuid?.() === 0 ? '-pf' : '-Urpf', '--mount-proc', '--kill-child']
    if (spawnSync(apart[0] ?? '', [...apart.slice(1), 'true']).status !== 0) return unable('no pid namespace can be made')
    const child = spawn(apart[0] ?? '', [...apart.slice(1), process.execPath, '-e', SPEAKS, String(here.port), '1'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    try {
      const port = Number(await line(child))
      expect(await speakerOf(world, ends(port), isOpen)).toMatchObject({
        kind: 'unknown',
        why: expect.stringContaining('in another pid namespace') as string,
      })
    } finally {
      child.kill('SIGKILL')
      await new Promise((gone) => child.once('exit', gone))
    }
  })

  test('is found for who speaks IPv6 to the same address', async () => {
    const socket = connect({ host: '::ffff:127.0.0.1', port: here.port })
    try {
      await new Promise((ready, failed) => socket.once('connect', ready).once('error', failed))
      const speaker = await speakerOf(world, ends(socket.localPort ?? 0), isOpen)
      expect(speaker.kind === 'process' && speaker.origins[0]).toEqual(world.processes.self())
    } finally {
      socket.destroy()
    }
  })
})

test('in the new era a subscriber is told, and nobody looks for it any more once it is gone', async () => {
  const client = await connected({ pin: '2026-07-28' })
  const updated: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => void updated.push(uri))
  const dir = mkdtempSync(join(tmpdir(), 'hf-http-dir-'))
  const world = openWorld({ assets: 'dist', home: here.home })
  try {
    await client.listen({ resourceSubscriptions: ['holdfast://events', 'holdfast://events/nobody'] })
    expect(mounted?.subscribed()).toBe(1)
    const taken = await client.callTool({ name: 'lock', arguments: { dir } })
    expect(taken.structuredContent).toMatchObject({ dir, pid: process.pid })
    expect(await (await world.store('writer')).claims.claim(aClaim(aRun('s')))).toMatchObject({ kind: 'won' })
    await until('to be told', () => updated.length > 0)
    expect(updated).toEqual(['holdfast://events'])
    await client.callTool({ name: 'unlock', arguments: { dir } })
  } finally {
    world.close()
    await client.close()
    rmSync(dir, { recursive: true })
  }
  await until('to be forgotten', () => mounted?.subscribed() === 0)
})

/** Says from which port it speaks; with a child that has inherited the connection, if there shall be two. */
const SPEAKS = `
const [port, holders] = process.argv.slice(1).map(Number)
const socket = require('node:net').connect(port, '127.0.0.1', () => {
  if (holders > 1) require('node:child_process').spawn('cat', { stdio: [process.stdin, 'ignore', 'inherit', socket] }).once('exit', () => process.exit())
  console.log(socket.localPort)
})
setInterval(() => {}, 1000)`

const line = (child: ReturnType<typeof spawn>): Promise<string> =>
  new Promise((told, failed) => {
    child.stdout?.once('data', (part: Buffer) => told(part.toString()))
    child.once('exit', () => failed(new Error('it said nothing')))
  })
