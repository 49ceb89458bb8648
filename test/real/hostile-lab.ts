import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { COMMAND, inLab, isAlive, type Lab, type Result, readOr, startOf, until } from './lab.ts'
import { markerOf, withoutCgroup } from './users.ts'

/** An agent does something to what holds it. Its script finds its own run (`RUN`, `CG`, `KEEPER`, `MARKER`), another's (`B_…`) and a stranger's process. */
export type Mutation = {
  readonly name: string
  readonly script: string
  /** The agent ends itself by it. */
  readonly ends?: true
  /** Pids that its script wrote down, and that `stop` may leave if it names them. */
  readonly named?: readonly string[]
  /** What `stop` answers; left out: 0, seen gone. */
  readonly stop?: { readonly code: number; readonly says: string }
  /** What settles it then. */
  readonly settle?: readonly (readonly string[])[]
  /** What must be undone from outside before anything can be answered. */
  readonly undo?: (lab: HostileLab) => void
}

export type HostileLab = Lab & { readonly command: string; readonly stranger: number; run(session: string): Promise<string> }

const AGENT = `echo $$ >"$FA_DIR/agent.pid"; while [ ! -s "$FA_DIR/vars" ]; do sleep 0.01; done; . "$FA_DIR/vars"; RUN=\${HOLDFAST_FENCE%/*}; KEEPER=$PPID; MARKER=$(prlimit --rttime --noheadings -o SOFT | tr -d ' ')
CG=$(cat "$RUN/cgroup" 2>/dev/null)
stay() { sh -c 'echo $$ >"$0"; exec sleep 1001' "$FA_DIR/$1.pid"; }
stay child & (setsid sh -c 'echo $$ >"$0"; exec sleep 1002' "$FA_DIR/orphan.pid" &)
while [ ! -s "$FA_DIR/child.pid" ] || [ ! -s "$FA_DIR/orphan.pid" ]; do sleep 0.01; done
`

/** A lab with a second session `b` and a stranger, both of which must live through everything. */
export const inHostileLab = (contained: boolean, body: (lab: HostileLab) => Promise<void>): Promise<void> =>
  inLab(async (lab) => {
    const stranger = spawn('sleep', ['3600'], { cwd: '/', stdio: 'ignore', env: { PATH: process.env['PATH'] }, detached: true })
    try {
      const command = contained ? COMMAND : withoutCgroup(lab)
      await lab.ok(['run', '--session', 'b', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'], { command })
      const run = async (session: string): Promise<string> => (await lab.status(session) as unknown as { run: string }).run
      await body({ ...lab, command, stranger: pidOf(stranger), run })
      expect(isAlive(pidOf(stranger)), 'the stranger lives').toBe(true)
    } finally {
      stranger.kill('SIGKILL')
    }
  })
const pidOf = (child: ChildProcess): number => child.pid ?? 0

export type Outcome = { readonly ls: Result; readonly status: Result; readonly stop: Result; readonly left: readonly number[]; readonly dead: string; readonly ms: readonly number[] }

/** Starts session `a`, lets its agent do it, looks, stops it, and tells who is left of it. */
export async function suffer(lab: HostileLab, mutation: Mutation): Promise<Outcome> {
  const nonce = randomUUID()
  const folder = join(lab.agentDir, nonce)
  mkdirSync(folder)
  const b = { pid: (await lab.status('b')).pid, keeper: (await lab.status('b')).keeper, run: await lab.run('b') }
  const bRun = join(lab.home, 'runs', b.run)
  const bCgroup = readOr(join(bRun, 'cgroup')).trim()
  const env = { FA_DIR: folder, HF_MUTATION: nonce }
  const script = `${AGENT}${mutation.script}\necho done >"$FA_DIR/done"; exec sleep 1000`
  const started = await lab.hf(lab.detached('a', 'sh', '-c', script), { command: lab.command, env })
  expect(started.code, `${mutation.name}: run\n${started.stderr}`).toBe(0)
  const young = spawn('sleep', ['3600'], { cwd: '/', stdio: 'ignore', env: { PATH: process.env['PATH'] }, detached: true })
  await until('it to sleep', () => readOr(`/proc/${young.pid}/comm`).trim() === 'sleep')
  writeFileSync(
    join(folder, 'vars.new'),
    [
      ['B_RUN', bRun],
      ['B_PID', b.pid],
      ['B_KEEPER', b.keeper],
      ['B_MARKER', markerOf(b.pid)],
      ['B_CG', bCgroup],
      ['BASE', bCgroup.slice(0, bCgroup.lastIndexOf('/'))],
      ['OLD', `${lab.stranger} ${startOf(lab.stranger)}`],
      ['YOUNG', `${young.pid} ${startOf(pidOf(young))}`],
      ['DB', join(lab.home, 'holdfast.db')],
    ]
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(''),
  )
  renameSync(join(folder, 'vars.new'), join(folder, 'vars'))
  await until(`${mutation.name}: done`, () => readOr(join(folder, 'done')) !== '' || (mutation.ends === true && !isAlive(Number(readOr(join(folder, 'agent.pid')))) ) || null)
  mutation.undo?.(lab)
  const timed = async (args: string[], timeoutMs: number): Promise<[Result, number]> => {
    const began = performance.now()
    return [await lab.hf(args, { command: lab.command, timeoutMs }), performance.now() - began]
  }
  const [[ls, lsMs], [status, statusMs]] = await Promise.all([timed(['ls'], 10_000), timed(['status', 'a'], 10_000)])
  const [stop, stopMs] = await timed(['stop', 'a', '--grace', '1s'], 30_000)
  const left = await leftOf(nonce)
  const dead = [isAlive(pidOf(young)) ? '' : 'YOUNG', isAlive(lab.stranger) ? '' : 'OLD', isAlive(b.pid) ? '' : 'B'].join('')
  young.kill('SIGKILL')
  return { ls, status, stop, left, dead, ms: [lsMs, statusMs, stopMs].map(Math.round) }
}

/** Everybody who was born in this life of the session; those that leave get a moment. */
async function leftOf(nonce: string): Promise<number[]> {
  const left = (): number[] =>
    readdirSync('/proc').flatMap((entry) =>
      /^\d+$/.test(entry) && readOr(`/proc/${entry}/environ`).includes(nonce) && isAlive(Number(entry)) ? [Number(entry)] : [],
    )
  await until('nobody to be left', () => left().length === 0 || null, 1500).catch(() => {})
  return left()
}
