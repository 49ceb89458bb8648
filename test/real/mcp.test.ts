import { spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { policy } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { COMMAND, inLab, type Lab, readOr, until } from './lab.ts'
import { type Connection, calling, connect, ERAS, INITIALIZE, identity, isThere, type Mode, message, speak } from './mcp-client.ts'

const TOOLS = 'whoami siblings status locks check_lock tasks lock unlock start_task report message inbox work_show work_explain work_finish'

/** The server below an agent that lives on without it. `before`: what comes before the command. */
function inSession(lab: Lab, before: string): string[] {
  const server = `sh -c 'echo $$ >"$FA_DIR/mcp.pid"; exec ${before} ${COMMAND} mcp --home ${lab.home}'`
  const agent = `echo $$ >"$FA_DIR/main.pid"; ${server}; exec sleep 3600`
  return [COMMAND, 'run', '--session', 's', '--dir', lab.dir, '--', 'sh', '-c', agent]
}

describe.each(ERAS)('in a session, over stdio, in the era of %s', (version, mode) => {
  // In one of them without any of our variables, as some agents start their servers.
  const before = mode === 'legacy' ? `env -i PATH="${process.env['PATH']}"` : ''

  verifies('self', 'every tool answers for who really calls it, and refuses what makes no sense', () =>
    inLab(async (lab) => {
      const elsewhere = lab.newDir()
      await lab.ok(['run', '--session', 'other', '--dir', elsewhere, '--detach', '--', 'sleep', '3600'])
      const door = await connect(lab, mode, inSession(lab, before))
      const { client } = door
      try {
        expect(client.getNegotiatedProtocolVersion()).toBe(version)
        expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual(TOOLS.split(' ').sort())
        await seeing(door, lab, elsewhere)
        const wanted = await acting(door, lab, elsewhere)
        await talking(door, lab)
        await listening(door, mode)
        const server = identity(await lab.pid('mcp'))
        if (mode === 'legacy') await standing(door, lab, wanted, server)
        else await lab.ok(['stop', 's'])
        expect(isThere(server)).toBe(false)
      } finally {
        await client.close()
      }
    }),
  )
})

/** It is of the run, and no agent. What the agent asked for is the agent's: it stays without the server, and goes with the agent. */
async function standing({ call }: Connection, lab: Lab, wanted: string, server: string): Promise<void> {
  const pid = await lab.pid('mcp')
  const told = async (...args: string[]): Promise<unknown> => JSON.parse(await lab.ok([...args, '--json']))
  const [inbox, tree, strangers] = await Promise.all([told('inbox', '--session', 'other', '--peek'), told('tree', 's'), told('ls', '--unmanaged')])
  expect(inbox).toMatchObject([{ text: 'hello', from: { session: 's' } }])
  expect((tree as { members: { pid: number }[] }).members.map((member) => member.pid)).toContain(pid)
  expect((strangers as { pid: number }[]).map((stranger) => stranger.pid)).not.toContain(pid)
  // Who it is, is looked at anew at each call.
  await lab.ok(['rebind', '--session', 's', '--to', 'true-id'])
  expect(await call('whoami')).toMatchObject({ session: 'true-id' })
  process.kill(pid, 'SIGTERM')
  await until('the server to be gone', () => !isThere(server))
  expect((await lab.hf(['lock', '--check', wanted])).code).toBe(75)
  await lab.ok(['stop', 's'])
  expect((await lab.hf(['lock', '--check', wanted])).code).toBe(0)
}

async function seeing({ call, refused }: Connection, lab: Lab, elsewhere: string): Promise<void> {
  expect(await call('whoami')).toMatchObject({ session: 's', dir: lab.dir, how: expect.stringMatching(/^(marker|cookie)$/) as string })
  expect(await call('siblings')).toMatchObject({ self: 's', siblings: [{ session: 'other' }], shown: 1, total: 1 })
  expect(await call('siblings', { here: true })).toMatchObject({ self: 's' })
  expect(await refused('siblings', { session: 'other' })).toMatch(/Unrecognized key/)
  expect(await call('status')).toMatchObject({ session: 's', state: 'running', pid: await lab.pid('main') })
  expect(await call('status', { session: 'oth' })).toMatchObject({ session: 'other', dir: elsewhere })
  expect(await refused('status', { session: 'nobody' })).toMatch(/^no such session: nobody\nholdfast ls/)
  expect(await refused('status', { session: '../../etc' })).toMatch(/Invalid arguments/)
  expect(await call('locks')).toMatchObject({ shown: 2, total: 2 })
  expect(await call('check_lock', { dir: lab.dir })).toMatchObject({ state: 'held', own: true })
  expect(await call('check_lock', { dir: elsewhere })).toMatchObject({ state: 'held', own: false, holder: { session: 'other' } })
}

/** Answers a directory that is held for the agent. */
async function acting({ call, refused }: Connection, lab: Lab, elsewhere: string): Promise<string> {
  const dir = lab.newDir()
  // By the agent, not by the server or by the shell between.
  expect(await call('lock', { dir, reason: 'I need it' })).toMatchObject({ dir, kind: 'process', pid: await lab.pid('main'), session: 's' })
  expect(await call('check_lock', { dir })).toMatchObject({ state: 'held', own: true })
  expect(await call('unlock', { dir })).toMatchObject({ unlocked: [{ dir }] })
  expect(await call('unlock', { dir })).toEqual({ unlocked: [] })
  expect(await refused('lock', { dir: elsewhere })).toMatch(/is held by pid \d+ \(session other/)
  expect(await refused('unlock', { dir: elsewhere })).toMatch(/cannot be taken away/)
  expect(await refused('lock', { dir: 'work' })).toMatch(/Invalid arguments/)
  expect(await refused('lock', { dir: '/not/there' })).toMatch(/\/not\/there/)

  const started = await call('start_task', { command: ['sh', '-c', 'pwd >"$FA_DIR/task"; exec sleep 3600'], name: 'bg' })
  expect(started).toMatchObject({ session: 's.bg', onRetire: 'cancel' })
  expect(await until('the task', () => readOr(join(lab.agentDir, 'task')).trim())).toBe(lab.dir)
  expect(await call('tasks')).toMatchObject({ session: 's', tasks: [{ session: 's.bg', state: 'running', parent: 's' }] })
  for (const name of ['work_show', 'work_explain']) expect(await refused(name, {})).toMatch(/session s works on no request/)
  expect(await refused('work_finish', { summary: 'done' })).toMatch(/session s works on no request/)
  expect(await refused('start_task', { command: [] })).toMatch(/Invalid arguments/)
  expect(await refused('start_task', { command: ['echo', 'a\0b'] })).toMatch(/NUL/)
  expect(await refused('start_task', { command: ['/not/there'] })).toMatch(/not\/there/)
  await call('lock', { dir })
  return dir
}

async function talking({ call, refused, client }: Connection, lab: Lab): Promise<void> {
  expect(await call('report', { kind: 'plan', text: 'I look around' })).toEqual({ session: 's', kind: 'plan', text: 'I look around' })
  expect(await call('status')).toMatchObject({ said: { plan: { text: 'I look around' } } })
  expect(await refused('report', { kind: 'boast', text: 'x' })).toMatch(/Invalid arguments/)
  expect(await refused('report', { kind: 'plan', text: ' ' })).toMatch(/nothing to report/)
  expect(await call('message', { to: 'other', text: 'hello' })).toMatchObject({ reached: ['other'] })
  expect(await refused('message', { to: 'nobody', text: 'x' })).toMatch(/no such session/)
  expect(await refused('message', { to: 'other', from: 'somebody', text: 'x' })).toMatch(/Unrecognized key/)

  // Whoever stops waiting has lost nothing.
  const cancel = new AbortController()
  const unwanted = client.callTool({ name: 'inbox', arguments: { waitSeconds: 40 } }, { signal: cancel.signal })
  unwanted.catch(() => {})
  await call('whoami')
  cancel.abort()
  await expect(unwanted).rejects.toThrow()
  let isWaiting = true
  const waiting = call('inbox', { waitSeconds: 40, peek: true }).finally(() => {
    isWaiting = false
  })
  // One that does not wait would be answered before those that are asked after it.
  for (let asked = 0; asked < 2; asked++) expect(await call('inbox', { peek: true })).toEqual({ messages: [], left: 0 })
  expect(isWaiting).toBe(true)
  await lab.ok(['message', 's', 'for you'])
  expect(await waiting).toMatchObject({ messages: [{ text: 'for you' }] })
  expect(await call('inbox')).toMatchObject({ messages: [{ text: 'for you', from: { session: null } }] })
  expect(await call('inbox')).toEqual({ messages: [], left: 0 })
  expect(await refused('inbox', { waitSeconds: 3600 })).toMatch(/Invalid arguments/)
}

async function listening({ client, updated, call }: Connection, mode: Mode): Promise<void> {
  const [all, own, other] = ['holdfast://events', 'holdfast://events/s', 'holdfast://events/other'] as const
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([all])
  expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['holdfast://events/{session}'])
  const read = async (uri: string) => JSON.parse(((await client.readResource({ uri })).contents[0] as { text: string }).text) as { session: string }[]
  expect((await read(all)).map(({ session }) => session)).toEqual(expect.arrayContaining(['s', 's.bg', 'other']))
  expect(new Set((await read(own)).map(({ session }) => session))).toEqual(new Set(['s']))
  await expect(read('holdfast://events/nobody')).rejects.toThrow(/no such session/)
  await expect(read('holdfast://sessions')).rejects.toThrow(/not found/)

  const subscription = mode === 'legacy' ? null : await client.listen({ resourceSubscriptions: [all, own, other] })
  if (subscription === null) for (const uri of [all, own, other]) await client.subscribeResource({ uri })
  await call('report', { kind: 'result', text: 'seen' })
  await until('to be told of it', () => updated.includes(own))
  expect(updated.sort()).toEqual([all, own])
  if (subscription === null) for (const uri of [all, own, other]) await client.unsubscribeResource({ uri })
  else await subscription.close()
}

type AgentCommand = ReturnType<typeof speak>

/** A server that has begun to talk, what is done to it, and how it ended: gone by its identity. */
async function ended(
  lab: Lab,
  how: (spoken: AgentCommand) => void,
  before = INITIALIZE,
): Promise<{ code: number | null; stderr: string; ids: unknown[] }> {
  const spoken = speak(lab)
  spoken.child.stdin.write(before)
  await until('its first answer', () => spoken.answers.length > 0)
  const server = identity(spoken.child.pid ?? 0)
  how(spoken)
  const code = await spoken.ended
  expect(isThere(server)).toBe(false)
  return { code, stderr: spoken.stderr(), ids: spoken.answers.map((line) => (JSON.parse(line) as { id: unknown }).id) }
}

test('it ends with its client, however that goes, and leaves nothing', () =>
  inLab(async (lab) => {
    const quiet = { code: 0, stderr: '', ids: [1] }
    const [unanswered, ...others] = await Promise.all([
      // Nobody reads its answers any more.
      ended(lab, ({ child }) => {
        child.stdout.destroy()
        child.stdin.write(calling('whoami', 2))
      }),
      ended(lab, ({ child }) => child.stdin.end()),
      ...(['SIGTERM', 'SIGINT', 'SIGHUP'] as const).map((signal) => ended(lab, ({ child }) => child.kill(signal))),
      inTheMiddle(lab),
      killedClient(lab),
      unread(lab),
    ])
    expect(unanswered.code).toBe(0)
    expect(others.slice(0, 4)).toEqual([quiet, quiet, quiet, quiet])
  }))

/** Input ends while requests are under way: what can be answered is, and nothing is waited for. */
async function inTheMiddle(lab: Lab): Promise<void> {
  const out = join(lab.agentDir, 'answers')
  const asked = `${INITIALIZE}${calling('inbox', 2, { waitSeconds: 50 })}${calling('whoami', 3)}`
  await lab.ok(lab.detached('s', 'sh', '-c', `printf %s "$0" | ${COMMAND} mcp >${out}; echo $? >"$FA_DIR/code"; exec sleep 3600`, asked))
  expect((await until('the server to end', () => readOr(join(lab.agentDir, 'code')))).trim()).toBe('0')
  const answers = readOr(out).trim().split('\n')
  expect(answers.map((line) => (JSON.parse(line) as { id: number }).id).sort()).toEqual([1, 2, 3])
}

/** Nobody reads what was asked for, and it was much: the end of input is seen behind it, and it is not all carried out first. */
async function unread(lab: Lab): Promise<void> {
  const { child, answers } = speak(lab)
  child.stdin.write(INITIALIZE)
  await until('its first answer', () => answers.length > 0)
  child.stdout.pause()
  const before = performance.now()
  child.stdin.end(Array.from({ length: 20_000 }, (_, index) => message('tools/list', index + 2)).join(''))
  expect(await new Promise((done) => child.once('exit', done))).toBe(0)
  // A moment for what is under way, and one for a busy machine.
  expect(performance.now() - before).toBeLessThan(policy.mcpPartingMs + 30_000)
}

/** The client is killed while somebody else holds the server's input open, and a shell between the two lives on. */
async function killedClient(lab: Lab): Promise<void> {
  const fifo = join(lab.agentDir, 'fifo')
  expect(spawnSync('mkfifo', [fifo]).status).toBe(0)
  const held = openSync(fifo, 'r+')
  writeSync(held, INITIALIZE)
  const shell = `sh -c 'echo $$ >"$FA_DIR/mcp.pid"; exec ${COMMAND} mcp' <${fifo} >"$FA_DIR/out"; exec sleep 3600`
  const client = spawn('perl', ['-e', 'system("sh", "-c", $ARGV[0])', shell], { env: lab.env, cwd: lab.dir, stdio: 'ignore' })
  try {
    await until('its first answer', () => readOr(join(lab.agentDir, 'out')))
    const server = identity(await lab.pid('mcp'))
    const between = parentOf(await lab.pid('mcp'))
    client.kill('SIGKILL')
    await until('the server to be gone', () => !isThere(server))
    await until('the shell between to go on', () => nameOf(between) === 'sleep')
    process.kill(between, 'SIGKILL')
  } finally {
    closeSync(held)
  }
}

const parentOf = (pid: number): number => Number(/^PPid:\s+(\d+)/m.exec(readOr(`/proc/${pid}/status`))?.[1])
const nameOf = (pid: number): string => readOr(`/proc/${pid}/comm`).trim()

test('nothing that a client sends breaks it', () =>
  inLab(async (lab) => {
    const spoken = speak(lab)
    const { stdin } = spoken.child
    const answer = async (id: number) =>
      JSON.parse(await until(`answer ${id}`, () => spoken.answers.find((line) => line.includes(`"id":${id}`)))) as unknown
    // Before it was greeted; no JSON; no message; half a message; one that is too long.
    stdin.write(message('tools/list', 9))
    stdin.write('hello?\n\n\0\n{"jsonrpc":"2.0"}\n[1,2]\n{"id":7}\n')
    const long = calling('report', 8, { kind: 'plan', text: 'x'.repeat(2_000_000) })
    stdin.write(long)
    stdin.write(INITIALIZE.slice(0, 30))
    expect(await answer(9)).toMatchObject({ id: 9 })
    stdin.write(INITIALIZE.slice(30))
    expect(await answer(1)).toMatchObject({ result: { serverInfo: { name: 'holdfast' } } })
    stdin.write(message('no/such/method', 2))
    expect(await answer(2)).toMatchObject({ error: { code: -32601 } })
    stdin.write(calling('no_such_tool', 3) + message('resources/read', 4, { uri: 'not an address' }) + calling('lock', 5, { dir: lab.dir }))
    expect(await answer(3)).toMatchObject({ error: { code: -32602 } })
    expect(await answer(4)).toMatchObject({ error: { code: -32602 } })
    // Outside of every session, what is asked for is held by the client itself.
    expect(await answer(5)).toMatchObject({ result: { structuredContent: { pid: process.pid, session: null } } })
    stdin.write(calling('unlock', 6, { dir: lab.dir }))
    expect(await answer(6)).toMatchObject({ result: { structuredContent: { unlocked: [{ dir: lab.dir }] } } })
    stdin.end('{"jsonrpc":')
    expect(await spoken.ended).toBe(0)
    const told = spoken.stderr().trim().split('\n')
    expect(told.filter((line) => !line.startsWith('holdfast: a line from the client is no message'))).toEqual([
      `holdfast: a message of ${long.length} bytes was left out: 1048576 are the most`,
      'holdfast: the last message was cut off',
    ])
    expect(spoken.answers.every((line) => JSON.parse(line) !== null)).toBe(true)
  }))

test('typed at a terminal it says what it is for, and goes on', () =>
  inLab(async (lab) => {
    const terminal = spawn('python3', ['-c', 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)', COMMAND, 'mcp'], {
      env: lab.env,
      cwd: lab.dir,
      stdio: 'pipe',
    })
    let seen = ''
    terminal.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString()
    })
    await until('what it is for', () => seen.includes('claude mcp add holdfast -- holdfast mcp') && seen.includes('[mcp_servers.holdfast]'))
    terminal.stdin.write(INITIALIZE)
    await until('its answer', () => seen.includes('"serverInfo"'))
    terminal.stdin.write('\u0004')
    expect(await new Promise((done) => terminal.once('exit', done))).toBe(0)
  }))
