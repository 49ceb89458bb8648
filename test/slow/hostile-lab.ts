import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { COMMAND, gone, inLab, isAlive, type Lab, type Result, readOr, startOf, until } from '../real/lab.ts'
import { markerOf, withoutCgroup } from '../real/users.ts'

/**
 * An agent does something to what holds it. Its script knows its own run (`RUN`, `CG`, `BASE`, `KEEPER`, `MARKER`), another session's (`B_…`), a
 * child and an orphan of its own (`CHILD`, `ORPHAN`), and two strangers: `OLD` was there before the run, `YOUNG` came after it.
 */
export type Mutation = {
  readonly name: string
  readonly script: string
  /** The agent ends by it. */
  readonly ends?: true
  /** It is not ended with its session: `stop` names it, and a person ends it. */
  readonly named?: 'CHILD' | 'ORPHAN' | 'EXTRA'
  /** Not defended: the stranger dies, or the process that it started lives on without a word. */
  readonly costs?: 'YOUNG' | 'EXTRA'
}

const READY = `echo $$ >"$FA_DIR/AGENT.pid"; while [ ! -s "$FA_DIR/vars" ]; do sleep 0.01; done; . "$FA_DIR/vars"
RUN=\${HOLDFAST_FENCE%/*}; KEEPER=$PPID; CG=$(cat "$RUN/cgroup" 2>/dev/null)
rttime() { prlimit --pid "$1" --rttime --noheadings -o SOFT | tr -d ' '; }
MARKER=$(rttime $$)
stay='echo $$ >"$FA_DIR/$0.pid"; exec sleep 1001'
sh -c "$stay" CHILD & (setsid sh -c "$stay" ORPHAN &)
for one in CHILD ORPHAN; do while [ ! -s "$FA_DIR/$one.pid" ]; do sleep 0.01; done; read $one <"$FA_DIR/$one.pid"; done
`

type Hostile = Lab & {
  readonly command: string
  readonly old: number
  readonly b: { readonly pid: number; readonly keeper: number; readonly run: string }
}

/** Lets an agent do each of these, in a life of its session each. A second session, a stranger and the lab's bystander live through all of them. */
export const inHostileLab = (contained: boolean, mutations: readonly Mutation[]): Promise<void> =>
  inLab(async (lab) => {
    const old = stranger()
    try {
      const command = contained ? COMMAND : withoutCgroup(lab)
      await lab.ok(['run', '--session', 'b', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'], { command })
      const b = (await lab.status('b')) as unknown as Hostile['b']
      for (const [index, mutation] of mutations.entries()) await suffer({ ...lab, command, b, old: old.pid }, mutation, index + 1)
      expect(await lab.ok(['lock', '--check', lab.dir], { command })).toContain('free')
      expect([isAlive(b.pid), isAlive(b.keeper)], 'the other session lives').toEqual([true, true])
      expect((await lab.hf(['stop', 'b', '--grace', '1s'], { command })).code).toBe(0)
      expect(isAlive(b.pid)).toBe(false)
    } finally {
      old.end()
    }
  })

function stranger(): { readonly pid: number; end(): void } {
  const child = spawn('sleep', ['3600'], { cwd: '/', stdio: 'ignore', env: { PATH: process.env['PATH'] }, detached: true })
  return { pid: child.pid ?? 0, end: () => void child.kill('SIGKILL') }
}

/** However much is to do on this machine: an answer that takes longer is none. */
const ANSWER_MS = 60_000
const STOP_MS = 90_000

async function suffer(lab: Hostile, mutation: Mutation, epoch: number): Promise<void> {
  const nonce = randomUUID()
  const folder = join(lab.agentDir, nonce)
  mkdirSync(folder)
  const pidOf = (name: string): number => Number(readOr(join(folder, `${name}.pid`)))
  const tell = (what: string, { code, stdout, stderr }: Result): string => `${mutation.name}: ${what}: ${code}\n${stdout}${stderr}`
  const ask = (...args: string[]): Promise<Result> => lab.hf(args, { command: lab.command, timeoutMs: args[0] === 'stop' ? STOP_MS : ANSWER_MS })
  let young: ReturnType<typeof stranger> | null = null
  try {
    // In a later life of the session, this is also the proof that the last one left its directory free.
    const script = `${READY}${mutation.script}\necho done >"$FA_DIR/done"; exec sleep 1000`
    const env = { FA_DIR: folder, HF_MUTATION: nonce }
    const started = await lab.hf(lab.detached('a', 'sh', '-c', script), { command: lab.command, env })
    expect(started.code, tell('run', started)).toBe(0)
    young = stranger()
    writeVars(folder, lab, young.pid)
    await until(`${mutation.name}: its agent`, () => readOr(join(folder, 'done')) !== '' || (mutation.ends === true && !isAlive(pidOf('AGENT'))))
    const [ls, status] = await Promise.all([ask('ls'), ask('status', 'a', '--verbose')])
    expect(ls.code, tell('ls', ls)).toBe(0)
    expect(status.code, tell('status', status)).toBe(0)
    expect(status.stdout, mutation.name).toContain(`(epoch ${epoch})`)
    const stop = await ask('stop', 'a', '--grace', '1s')
    expect(stop.code, tell('stop', stop)).toBe(0)
    await leaves(nonce, mutation, pidOf, stop, lab)
    expect(isAlive(young.pid), tell('the younger stranger', stop)).toBe(mutation.costs !== 'YOUNG')
    expect([isAlive(lab.old), isAlive(lab.b.pid), isAlive(lab.b.keeper)], tell('the older stranger, the other session', stop)).toEqual([
      true,
      true,
      true,
    ])
  } finally {
    young?.end()
  }
}

function writeVars(folder: string, { b, old, home }: Hostile, young: number): void {
  const run = join(home, 'runs', b.run)
  const cgroup = readOr(join(run, 'cgroup')).trim()
  const identity = (pid: number): string => `${pid} ${startOf(pid)}`
  const vars = {
    B_RUN: run,
    B_PID: b.pid,
    B_MARKER: markerOf(b.pid),
    B_CG: cgroup,
    BASE: cgroup.slice(0, cgroup.lastIndexOf('/')),
    OLD: identity(old),
    YOUNG: identity(young),
    OLD_PID: old,
    YOUNG_PID: young,
  }
  writeFileSync(
    join(folder, 'vars.new'),
    Object.entries(vars)
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(''),
  )
  renameSync(join(folder, 'vars.new'), join(folder, 'vars'))
}

/** Nobody of this life of the session is left, except the one that is named; and a person can end that. */
async function leaves(nonce: string, { name, named, costs }: Mutation, pidOf: (name: string) => number, stop: Result, lab: Hostile): Promise<void> {
  const spoken = named ?? (costs === 'EXTRA' ? costs : null)
  const expected = spoken === null ? [] : [pidOf(spoken)]
  let left: number[] = []
  const isAsExpected = (): boolean => {
    left = bornIn(nonce)
    return left.length === expected.length && left.every((pid) => expected.includes(pid))
  }
  await until('those that are leaving', isAsExpected, 5000).catch(() => {})
  expect(
    left.map((pid) => `${pid} ${readOr(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`),
    `${name}: who is left\n${stop.stdout}`,
  ).toEqual(expected.map((pid) => expect.stringMatching(`^${pid} `) as string))
  const [pid] = expected
  if (pid === undefined) return
  if (named === undefined) {
    expect(stop.stdout).not.toContain(`pid ${pid}`)
    process.kill(pid, 'SIGKILL')
  } else {
    expect(stop.stdout, name).toContain(`may be left: sleep (pid ${pid})`)
    await lab.ok(['stop', '--suspect', String(pid)], { command: lab.command })
  }
  await gone(pid)
}

const bornIn = (nonce: string): number[] =>
  readdirSync('/proc').flatMap((entry) =>
    /^\d+$/.test(entry) && readOr(`/proc/${entry}/environ`).includes(nonce) && isAlive(Number(entry)) ? [Number(entry)] : [],
  )
