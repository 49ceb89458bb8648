import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { collect, inLab, isAlive, type Lab, type Options, type Result, readOr, until } from '../real/lab.ts'
import { configure, LAUNCHES, type Launch } from './harnesses.ts'
import { fakeModel, type Model } from './model/index.ts'

/** A lab with a real agent CLI in it that talks to a model of our own, in a HOME of its own. */
export type AgentLab = Pick<Lab, 'home' | 'dir' | 'hf' | 'ok' | 'newDir'> & {
  readonly launch: Launch
  readonly model: Model
  /** The agent's executable. */
  readonly path: string
  readonly userHome: string
  /** A file that tools may write to. */
  file(name: string): string
  /** Starts a session detached by its full command line, and gives its native id once it is known. */
  begin(session: string, prompt: string, options?: Options): Promise<string>
  /** Starts a session detached by the agent's name, as a person would. */
  run(session: string, prompt: string, options?: readonly string[], more?: readonly string[]): Promise<void>
  /** Starts the agent without Holdfast. */
  unmanaged(args: readonly string[], cwd?: string): ChildProcess
  /** The agent's own command, without Holdfast, to its end. */
  say(args: readonly string[]): Promise<Result>
  tree(session: string): Promise<readonly Member[]>
  status(session: string): Promise<StatusOfAgent>
  /** The model was asked this prompt, after at least so many tool results. */
  asked(part: string, results?: number): Promise<void>
}
export type Member = { readonly pid: number; readonly name: string; readonly proof: string; readonly ports: readonly number[] }
export type StatusOfAgent = {
  readonly run: string
  readonly state: string
  readonly pid: number
  readonly harness: string | null
  readonly nativeId: string | null
  readonly reason: string | null
  readonly activity: { readonly state: string; readonly how: string } | null
  readonly endedBy: string | null
  readonly usage: { readonly tokens?: Record<string, number | null> | null }
}

const found = new Map((process.env['HOLDFAST_AGENTS_FOUND'] ?? '').split('\n').map((line) => line.split('\t') as [string, string]))

/** How long a real agent may take from its start to its first tool call, on a busy machine. */
export const AGENT_MS = 120_000
const SCENARIO_MS = 400_000

type Which = { readonly of?: (launch: Launch) => boolean }

/** A scenario for each of the agents; for those that were not asked for it is skipped, and says so. */
export function scenario(title: string, body: (lab: AgentLab) => Promise<void>, { of = () => true }: Which = {}): void {
  for (const launch of LAUNCHES.filter(of)) {
    const path = found.get(launch.name)
    if (path === undefined) test.skip(`${launch.name} was not asked for: ${title}`, () => {})
    else test(`${launch.name}: ${title}`, { timeout: SCENARIO_MS }, () => inAgentLab(launch, path, body))
  }
}

async function inAgentLab(launch: Launch, path: string, body: (lab: AgentLab) => Promise<void>): Promise<void> {
  const model = await fakeModel()
  try {
    await inLab((lab) => body(agentLab(lab, launch, path, model)))
  } finally {
    await model.close()
  }
}

function agentLab(lab: Lab, launch: Launch, path: string, model: Model): AgentLab {
  const userHome = lab.newDir()
  const files = lab.newDir()
  configure(launch, userHome, model.port, lab.dir)
  const env = {
    ...ambientless(),
    PATH: `${dirname(path)}:${process.env['PATH']}`,
    HOME: userHome,
    TMPDIR: lab.newDir(),
    ...launch.env(model.port, userHome),
  }
  const within = (options: Options = {}): Options => ({ ...options, env: { ...env, ...options.env } })
  const hf: Lab['hf'] = (args, options) => lab.hf(args, within(options))
  const ok: Lab['ok'] = (args, options) => lab.ok(args, within(options))
  return {
    home: lab.home,
    dir: lab.dir,
    newDir: lab.newDir,
    hf,
    ok,
    launch,
    model,
    path,
    userHome,
    file: (name) => join(files, name),
    begin: async (session, prompt, options) => {
      const preset = randomUUID()
      await ok(['run', '--session', session, '--dir', lab.dir, '--detach', '--', path, ...launch.start(preset, prompt)], options)
      const { idIn } = launch
      if (idIn === null) return preset
      return until('the native id in its output', async () => idIn.exec(await ok(['logs', session]))?.[1], AGENT_MS)
    },
    run: async (session, prompt, options = [], more = []) => {
      await ok(['run', '--session', session, '--dir', lab.dir, '--detach', ...options, launch.name, ...launch.fresh(prompt), ...more])
    },
    // In a process group of its own, so that it can be ended whole.
    unmanaged: (args, cwd = lab.dir) => spawn(path, args, { cwd, env: { ...lab.env, ...env }, stdio: 'ignore', detached: true }),
    say: (args) => collect(spawn(path, args, { cwd: lab.dir, env: { ...lab.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })),
    tree: async (session) => (JSON.parse(await ok(['tree', session, '--json'])) as { members: Member[] }).members,
    status: async (session) => JSON.parse(await ok(['status', session, '--json'])) as StatusOfAgent,
    asked: async (part, results = 0) => {
      const seen = () => model.requests.some((request) => request.prompt.includes(part) && request.results >= results)
      await until(`the model to be asked ${part} after ${results} tool results`, seen, AGENT_MS)
    },
  }
}

/** Names of agents around the tests are taken away: what Holdfast strips by itself has a test of its own. */
const ambientless = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => /^(CLAUDE|CODEX|CODE_|CODER_|GEMINI|QWEN|OPENCODE|ANTHROPIC|OPENAI|AI_AGENT|AGENT|XDG_|HTTPS?_PROXY|https?_proxy)/.test(name))
      .map((name) => [name, undefined]),
  )

/** Ends an agent that Holdfast did not start, launchers (which may ignore TERM, or die alone) and all, and sees its process group gone. */
export async function endUnmanaged({ pid = 0 }: ChildProcess): Promise<void> {
  if (groupOf(pid).length > 0) process.kill(-pid, 'SIGTERM')
  await until(`process group ${pid} to end`, () => groupOf(pid).length === 0, AGENT_MS)
}

const groupOf = (group: number): number[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((entry) => ({ pid: Number(entry), stat: readOr(`/proc/${entry}/stat`) }))
    .filter(({ pid, stat }) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]) === group && isAlive(pid))
    .map(({ pid }) => pid)

/** Writes a prompt into a file, and answers the file. */
export function promptIn(file: string, text: string): string {
  writeFileSync(file, text)
  return file
}

const DEV = resolve('test/agents/dev.mjs')
/** A tool call that starts a dev server which leaves the call, its process group and its session. */
export const serve = (file: string): string => `[[run: setsid node ${DEV} ${file} </dev/null >/dev/null 2>&1 & echo started]]`

export type Server = { readonly pid: number; readonly port: number }
export async function serverAt(file: string): Promise<Server> {
  const [pid = 0, port = 0] = (await until(`a dev server at ${file}`, () => readOr(file).trim(), AGENT_MS)).split(' ').map(Number)
  return { pid, port }
}

/** Whether somebody answers there. */
export const answers = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      done(true)
    })
    socket.once('error', () => done(false))
  })

/** Every live process that a run's cookie, marker or cgroup names, found without Holdfast's own eyes. */
export function ofRun(home: string, run: string): number[] {
  const { cookie, marker, containment } = JSON.parse(readOr(join(home, 'runs', run, 'run.json'))) as {
    cookie: string
    marker: number
    containment: { path?: string }
  }
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
  const named = pids.filter(
    (pid) =>
      readOr(`/proc/${pid}/environ`).includes(cookie) || new RegExp(`^Max realtime timeout +${marker} `, 'm').test(readOr(`/proc/${pid}/limits`)),
  )
  return [...new Set([...named.map(Number), ...inCgroup(containment.path)])].filter(isAlive)
}

const inCgroup = (path: string | undefined): number[] =>
  path === undefined || !existsSync(path)
    ? []
    : ['tree', '.'].flatMap((leaf) =>
        readOr(join(path, leaf, 'cgroup.procs'))
          .split('\n')
          .filter((line) => line !== '')
          .map(Number),
      )

/** A stop that ended everything: told so, seen so by the run's own proofs, its port free. */
export async function expectNothingOf(lab: AgentLab, run: string, servers: readonly Server[]): Promise<void> {
  const left = await until('the keeper to leave', () => ofRun(lab.home, run).length === 0 || null, 5000).catch(() => ofRun(lab.home, run))
  expect(left, 'nothing of the run is left').toBe(true)
  for (const { pid, port } of servers) {
    expect(isAlive(pid), `dev server ${pid}`).toBe(false)
    expect(await answers(port), `port ${port}`).toBe(false)
  }
}
