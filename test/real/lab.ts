import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { cgroupStem } from '../../src/model/index.ts'

export const COMMAND = resolve('bin/holdfast')
/** The same command, with failpoints. */
export const TEST_COMMAND = resolve('dist/test/bin/holdfast')
export const AGENT = resolve('test/fixtures/fake-agent.sh')

/** Bounds for what hangs; a machine with twenty others at work needs ten times as long as a quiet one. */
const ANSWER_MS = 120_000
const PATIENCE_MS = 60_000
/** A guard that could not have the end of its run recorded tries that again for half a minute. */
const LEAVE_MS = 60_000

export type Result = { readonly code: number | null; readonly stdout: string; readonly stderr: string }
export type Options = {
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string
  readonly cwd?: string
  readonly command?: string
  readonly timeoutMs?: number
}
export type Status = Record<string, never> & {
  state: string
  pid: number
  keeper: number
  epoch: number
  reason: string | null
  exit: { code: number | null; signal: string | null } | null
}

export type Refusal = { readonly id: string; readonly code: number; readonly message: string; readonly hint: string | null }

/** A home, a directory, an agent's folder and a bystander of its own, with a check that nothing is left of what was started. */
export type Lab = {
  readonly home: string
  readonly dir: string
  readonly agentDir: string
  readonly env: NodeJS.ProcessEnv
  hf(args: readonly string[], options?: Options): Promise<Result>
  start(args: readonly string[], options?: Options): ChildProcess
  ok(args: readonly string[], options?: Options): Promise<string>
  /** The refusal of a command, as `--json` tells it to programs. */
  refused(args: readonly string[], options?: Options): Promise<Refusal>
  /** The arguments that start a session here, detached. */
  detached(session: string, ...argv: readonly string[]): string[]
  status(session: string): Promise<Status>
  /** Its status, once its guard was killed: when keeper and agent are killed then, nobody is left who would have the run finished. */
  unguarded(session: string): Promise<Status>
  /** The pid the stand-in agent wrote under a name. */
  pid(name: string): Promise<number>
  newDir(): string
}

/** Runs a scenario; afterwards stops what is left of it through the product and then proves that nothing is. */
export async function inLab(body: (lab: Lab) => Promise<void>): Promise<void> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hf-lab-')))
  const nonce = randomUUID()
  const folder = (name: string): string => {
    mkdirSync(join(root, name), { mode: 0o700 })
    return join(root, name)
  }
  const dir = folder('work')
  const agentDir = folder('agent')
  const home = join(root, 'home')
  const env: NodeJS.ProcessEnv = { ...cleanEnvironment(), HOLDFAST_HOME: home, FA_DIR: agentDir, HF_LAB: nonce }
  // Same directory, same kind of process, but nobody's: it must live through everything.
  const bystander = spawn('sleep', ['3600'], { cwd: dir, stdio: 'ignore', env: { PATH: process.env['PATH'] } })
  const start: Lab['start'] = (args, options = {}) =>
    spawn(options.command ?? COMMAND, args, { cwd: options.cwd ?? dir, env: { ...env, ...options.env }, stdio: ['pipe', 'pipe', 'pipe'] })
  const hf: Lab['hf'] = (args, options = {}) => collect(start(args, options), options)
  let serial = 0
  const lab: Lab = {
    home,
    dir,
    agentDir,
    env,
    hf,
    start,
    ok: async (args, options) => {
      const result = await hf(args, options)
      expect(result.code, `holdfast ${args.join(' ')}\n${result.stderr}`).toBe(0)
      return result.stdout
    },
    refused: async (args, options) => {
      const { code, stdout, stderr } = await hf(['--json', ...args], options)
      expect([code, stdout], `holdfast ${args.join(' ')}\n${stderr}`).toEqual([expect.toSatisfy((exit) => exit !== 0), ''])
      const refusal = JSON.parse(stderr) as Refusal
      expect(refusal.code).toBe(code)
      return refusal
    },
    detached: (session, ...argv) => ['run', '--session', session, '--dir', dir, '--detach', '--', ...argv],
    status: async (session) => {
      const result = await hf(['status', session, '--json'])
      expect(result.code, result.stderr).toBe(0)
      return JSON.parse(result.stdout) as Status
    },
    unguarded: async (session) => {
      const status = await lab.status(session)
      await killGuard(lab, String(status['run']))
      return status
    },
    pid: async (name) => {
      const path = join(agentDir, `${name}.pid`)
      return Number(await until(`${name}.pid`, () => readOr(path).trim() || null))
    },
    newDir: () => folder(`dir${++serial}`),
  }
  let failed = true
  try {
    await body(lab)
    expect(isAlive(bystander.pid ?? 0), 'the bystander lives').toBe(true)
    failed = false
  } finally {
    if (readOr(join(home, 'daemon', 'daemon.json')) !== '') await hf(['daemon', 'stop'])
    await hf(['stop', '--all', '--grace', '1s'])
    const left = await leftOver(nonce)
    bystander.kill('SIGKILL')
    for (const { pid } of left) killOwn(pid, nonce)
    removeCgroups(readOr(join(home, 'install')).trim())
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    // What failed first is what is told.
    if (!failed) expect(left, 'nothing is left running').toEqual([])
  }
}

/** What would have a run finished whose keeper was killed. */
export async function killGuard({ home }: Pick<Lab, 'home'>, run: string): Promise<void> {
  const guard = await until('its guard', () => Number.parseInt(readOr(join(home, 'runs', run, 'guard')), 10) || null)
  expect(readOr(`/proc/${guard}/cmdline`)).toContain('guard.sh')
  process.kill(guard, 'SIGKILL')
  await gone(guard)
}

export type Finding = { readonly topic: string; readonly level: string; readonly what: string; readonly next: string | null }

/** What doctor finds in a lab. Whose conversations have two owners it asks of the whole machine, where other labs are at work: that is left out. */
export async function findings(lab: Lab, options: Options = {}): Promise<Finding[]> {
  const { stdout } = await lab.hf(['doctor', '--json'], options)
  return (JSON.parse(stdout) as { findings: Finding[] }).findings.filter(({ topic }) => topic !== 'owners')
}

/** No HOLDFAST_ variable of a session around the tests may reach them. */
export const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_') && !name.startsWith('VITEST') && name !== 'NODE_OPTIONS'),
  )

export function collect(child: ChildProcess, options: Options = {}): Promise<Result> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  child.stdin?.on('error', () => {})
  child.stdin?.end(options.input ?? '')
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? ANSWER_MS)
  return new Promise((done) => {
    // Not `close`: what an agent leaves may hold our pipes.
    child.once('exit', (code) => setTimeout(() => done({ code, stdout, stderr }), 20))
    child.once('exit', () => clearTimeout(timer))
  })
}

/** Waits for a condition; what it waits for is in the message. */
export async function until<T>(
  what: string,
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  ms = PATIENCE_MS,
): Promise<T> {
  const end = performance.now() + ms
  for (;;) {
    const seen = await look()
    // An empty file is one that is just being written.
    if (seen !== null && seen !== undefined && seen !== false && (seen as unknown) !== '') return seen
    if (performance.now() >= end) throw new Error(`waited ${ms} ms in vain for: ${what}`)
    await new Promise((next) => setTimeout(next, 15))
  }
}

/** How busy this machine is: what it needs to start a Node. */
export const nodeStartMs = (): number => {
  const began = performance.now()
  spawnSync(process.execPath, ['-e', '0'])
  return performance.now() - began
}

export function stateOf(pid: number): string | null {
  const stat = readOr(`/proc/${pid}/stat`)
  return stat === '' ? null : (stat.slice(stat.lastIndexOf(')') + 2)[0] ?? null)
}
/** When it was born, as harnesses write it down: field 22 of its stat line. */
export function startOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

export const isAlive = (pid: number): boolean => !['Z', 'X', null].includes(stateOf(pid))
export const gone = (pid: number): Promise<true> => until(`pid ${pid} to be gone`, () => !isAlive(pid) || null).then(() => true)

/** A pipe that an agent has put there keeps nobody waiting. */
export const readOr = (path: string): string => {
  let file: number | null = null
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return fstatSync(file).isFile() ? readFileSync(file, 'latin1') : ''
  } catch {
    return ''
  } finally {
    if (file !== null) closeSync(file)
  }
}

/** Every process that still carries the nonce of a lab: a moment is given to keepers that are just leaving. */
async function leftOver(nonce: string): Promise<{ pid: number; command: string }[]> {
  for (const end = performance.now() + LEAVE_MS; ; ) {
    const left = readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry) && readOr(`/proc/${entry}/environ`).includes(nonce) && isAlive(Number(entry)))
      .map((entry) => ({ pid: Number(entry), command: readOr(`/proc/${entry}/cmdline`).replaceAll('\0', ' ').trim() }))
    if (left.length === 0 || performance.now() >= end) return left
    await new Promise((next) => setTimeout(next, 50))
  }
}

function killOwn(pid: number, nonce: string): void {
  if (readOr(`/proc/${pid}/environ`).includes(nonce)) process.kill(pid, 'SIGKILL')
}

const CGROUPS = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup']

/** The cgroups of an install that are left at the place where root's are made: a test that ends by killing everybody leaves empty ones. */
export const cgroupsOf = (install: string): string[] =>
  CGROUPS.flatMap((place) => {
    try {
      return readdirSync(place)
        .filter((name) => install !== '' && name.startsWith(cgroupStem(install)))
        .map((name) => join(place, name))
    } catch {
      return []
    }
  })

export function removeCgroups(install: string): void {
  for (const path of cgroupsOf(install)) rmdirSync(path)
}

/** A shell script in a pid and mount namespace of its own; whatever it leaves dies with it. Needs root or user namespaces. */
export function inNamespace(script: string, env: NodeJS.ProcessEnv): Result {
  const root = process.getuid?.() === 0
  const result = spawnSync('unshare', [root ? '-pf' : '-Urpf', '-m', '--mount-proc', '--kill-child', 'bash', '-euc', script], {
    env,
    encoding: 'utf8',
    timeout: 120_000,
    cwd: '/',
  })
  return { code: result.status, stdout: result.stdout, stderr: result.stderr }
}

/** A scenario that this machine cannot show: skipped loudly, and a failure where everything must be shown. */
export function unable(why: string): void {
  if (process.env['CI'] === 'true') throw new Error(`cannot be tested here: ${why}`)
  console.warn(`SKIP: ${why}`)
}
