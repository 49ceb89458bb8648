import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { Client, type ClientOptions } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect } from 'vitest'
import { COMMAND, type Lab, readOr, startOf } from './lab.ts'

/** The two eras of the protocol, as the official client speaks them. */
export const ERAS = [
  ['2025-11-25', 'legacy' as const],
  ['2026-07-28', { pin: '2026-07-28' }],
] as const
export type Mode = (typeof ERAS)[number][1]

/** As it is; a subclass asks on the connection itself which era it is, instead of starting a second server for that. */
class Stdio extends StdioClientTransport {}

type Answer = Readonly<Record<string, unknown>>
export type Connection = {
  readonly client: Client
  /** The addresses that were said to have changed. */
  readonly updated: string[]
  /** What a tool answers, which is no refusal. */
  call(name: string, args?: Answer): Promise<Answer>
  /** How it refuses. */
  refused(name: string, args?: Answer): Promise<string>
}

/** A client of the server that this command line starts. */
export async function connect(lab: Lab, mode: Mode, [command = '', ...args]: readonly string[]): Promise<Connection> {
  const env = Object.fromEntries(Object.entries(lab.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } as NonNullable<ClientOptions['versionNegotiation']> })
  const updated: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => void updated.push(uri))
  await client.connect(new Stdio({ command, args, env, cwd: lab.dir }))
  return {
    client,
    updated,
    async call(name, args = {}) {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: args })
      expect(isError ?? false, JSON.stringify(content)).toBe(false)
      expect(JSON.parse((content[0] as { text: string }).text)).toEqual(structuredContent)
      return structuredContent as Answer
    },
    async refused(name, args = {}) {
      const { content, isError } = await client.callTool({ name, arguments: args })
      expect(isError, JSON.stringify(content)).toBe(true)
      return (content[0] as { text: string }).text
    },
  }
}

/** The server, spoken to by hand. */
export type AgentCommand = {
  readonly child: ChildProcessWithoutNullStreams
  readonly answers: string[]
  readonly stderr: () => string
  readonly ended: Promise<number | null>
}

export function speak(lab: Lab, words: readonly string[] = [COMMAND, 'mcp']): AgentCommand {
  const [command = '', ...args] = words
  const child = spawn(command, args, { env: lab.env, cwd: lab.dir, stdio: 'pipe' })
  let out = ''
  let err = ''
  const answers: string[] = []
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    const lines = out.split('\n')
    out = lines.pop() ?? ''
    answers.push(...lines)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  for (const pipe of [child.stdin, child.stdout]) pipe.on('error', () => {})
  return { child, answers, stderr: () => err, ended: new Promise((done) => child.once('close', done)) }
}

export const INITIALIZE = message('initialize', 1, { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'by hand', version: '1' } })

export function message(method: string, id: number, params: Answer = {}): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
}
export const calling = (name: string, id: number, args: Answer = {}): string => message('tools/call', id, { name, arguments: args })

/** A process by its identity: pid and birth. */
export const identity = (pid: number): string => `${pid} ${startOf(pid)}`
export const isThere = (one: string): boolean => {
  const pid = Number(one.split(' ')[0])
  return identity(pid) === one && !/^State:\s+[ZX]/m.test(readOr(`/proc/${pid}/status`))
}
