import { type ChildProcess, spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, gone, inLab, isAlive, type Lab, readOr, until } from './lab.ts'

const AGENT = resolve('test/fixtures/acp-agent.mjs')

/** A small ACP client, as an editor has one: it starts the agent's command, and speaks JSON over its pipes. */
type Client = {
  readonly child: ChildProcess
  /** All bytes of its stdout so far. */
  readonly bytes: () => Buffer
  readonly stderr: () => string
  ask(method: string, params: object): Promise<Record<string, unknown>>
  prompt(text: string): Promise<Record<string, unknown>>
  /** The editor closes its end: the exit code. */
  close(): Promise<number | null>
}

function client(lab: Lab, command: readonly string[]): Client {
  const [program = '', ...args] = command
  // In a process group of its own: editors end the whole group.
  const child = spawn(program, args, { cwd: lab.dir, env: lab.env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  const chunks: Buffer[] = []
  let stderr = ''
  let asked = 0
  const waiting = new Map<number, (message: Record<string, unknown>) => void>()
  const broken: string[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8')
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    try {
      const message = JSON.parse(line) as Record<string, unknown>
      waiting.get(Number(message['id']))?.(message)
    } catch {
      broken.push(line)
    }
  })
  const exited = new Promise<number | null>((done) => child.once('close', (code) => done(code)))
  const ask: Client['ask'] = (method, params) => {
    const id = ++asked
    const answered = new Promise<Record<string, unknown>>((done) => waiting.set(id, done))
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return answered
  }
  return {
    child,
    bytes: () => Buffer.concat(chunks),
    stderr: () => stderr,
    ask,
    prompt: (text) => ask('session/prompt', { sessionId: 'acp-session-1', prompt: [{ type: 'text', text }] }),
    close: () => {
      child.stdin.end()
      return exited.then((code) => {
        expect(broken, 'every line of stdout is JSON').toEqual([])
        return code
      })
    },
  }
}

const managed = (session = 'acp'): string[] => [COMMAND, 'run', '--session', session, '--', process.execPath, AGENT, '--acp']

/** A conversation with two prompts: all bytes, what it said on stderr, and how it ended. */
async function conversation(lab: Lab, command: readonly string[]) {
  const editor = client(lab, command)
  expect(await editor.ask('initialize', { protocolVersion: 1, clientCapabilities: {} })).toMatchObject({ result: { protocolVersion: 1 } })
  expect(await editor.ask('session/new', { cwd: lab.dir, mcpServers: [] })).toMatchObject({ result: { sessionId: 'acp-session-1' } })
  expect(await editor.ask('session/none', {})).toMatchObject({ error: { code: -32601 } })
  await editor.prompt('first é ☃ \u2028 "quoted" \\ and a tab\t')
  expect(await editor.prompt('second')).toMatchObject({ result: { stopReason: 'end_turn' } })
  const code = await editor.close()
  return { bytes: editor.bytes(), stderr: editor.stderr(), code }
}

/** An editor whose agent has started a dev server that left its process group. */
async function serving(lab: Lab) {
  const editor = client(lab, managed())
  const file = join(lab.agentDir, 'server')
  await editor.ask('initialize', { protocolVersion: 1, clientCapabilities: {} })
  await editor.ask('session/new', { cwd: lab.dir, mcpServers: [] })
  await editor.prompt(`serve ${file}`)
  const server = Number(await until('the dev server', () => readOr(file) || null))
  const { pid: agent } = await lab.status('acp')
  expect([agent, server].map(isAlive)).toEqual([true, true])
  return { editor, agent, server }
}

test('an ACP agent as an editor’s command: every byte of both streams and the exit code are the agent’s own', () =>
  inLab(async (lab) => {
    const plain = await conversation(lab, [process.execPath, AGENT, '--acp'])
    const ours = await conversation(lab, managed())
    expect([plain.code, ours.code]).toEqual([7, 7])
    expect(plain.bytes.length).toBeGreaterThan(18_000)
    expect(ours.bytes.equals(plain.bytes)).toBe(true)
    expect(ours.stderr).toBe(plain.stderr)
    expect(await lab.status('acp')).toMatchObject({ state: 'failed', exit: { code: 7, signal: null } })
  }))

for (const [how, end] of [
  ['closes its end', (editor: Client) => void editor.child.stdin?.end()],
  ['sends SIGTERM to its child', (editor: Client) => void editor.child.kill('SIGTERM')],
  ['kills its child', (editor: Client) => void editor.child.kill('SIGKILL')],
  ["kills its child's process group", (editor: Client) => void process.kill(-(editor.child.pid ?? 0), 'SIGKILL')],
] as const)
  verifies('stop-proof', `an editor that ${how} leaves neither an ACP agent nor its dev server, without any other command`, () =>
    inLab(async (lab) => {
      const { editor, agent, server } = await serving(lab)
      end(editor)
      await Promise.all([agent, server].map(gone))
    }),
  )
