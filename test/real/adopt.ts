import { spawnSync } from 'node:child_process'
import { mkdirSync, utimesSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { isLive, type Run } from '../../src/model/index.ts'
import { execute, rowOf, withStore } from './daemon-hand.ts'
import { COMMAND, gone, isAlive, killGuard, type Lab, readOr, stateOf, TEST_COMMAND, until } from './lab.ts'

export type Victims = { readonly lost: string; readonly nested: string; readonly failed: string }
const sessionsOf = ({ lost, nested, failed }: Victims): string[] => [lost, nested, failed]
const namesOf = (index: number): Victims => ({ lost: `lost${index}`, nested: `nested${index}`, failed: `failed${index}` })
/** Only one that said so has a child to leave. */
const LEAVING = 'setsid sleep 100000 & echo >has-child; exec sleep 100000'
const hasChild = (lab: Lab, session: string): Promise<unknown> =>
  until(`the child of ${session}`, () => readOr(join(dirOf(lab, session), 'has-child')) !== '')
const dirOf = (lab: Lab, session: string): string => {
  mkdirSync(join(lab.dir, session), { recursive: true })
  return join(lab.dir, session)
}

/** One whose keeper and agent will be killed, with a run and a child that it started; and one that leaves a child, and whose finisher dies before it ends that. */
export async function startVictims(lab: Lab, index: number): Promise<Victims> {
  const victims = namesOf(index)
  const nested = `${COMMAND} run --session ${victims.nested} --dir ${dirOf(lab, victims.nested)} --detach -- sleep 100000; ${LEAVING}`
  await lab.ok(['run', '--session', victims.lost, '--dir', dirOf(lab, victims.lost), '--detach', '--', 'sh', '-c', nested])
  await lab.ok(['run', '--session', victims.failed, '--dir', dirOf(lab, victims.failed), '--detach', '--', 'sh', '-c', LEAVING], {
    command: TEST_COMMAND,
    env: { HOLDFAST_FAILPOINTS: 'before:processes.send=kill' },
  })
  await killUnseen(lab, victims)
  return victims
}

/** The first is killed as if on another machine: a daemon that is at work for others leaves it alone until it is struck. */
async function killUnseen(lab: Lab, victims: Victims): Promise<void> {
  await liveRun(lab, victims.nested)
  const lost = await liveRun(lab, victims.lost)
  await hasChild(lab, victims.lost)
  const pids = [lost.keeper?.pid ?? 0, agentOf(lab, lost)]
  moveAway(lab, victims.lost)
  await killGuard(lab, lost.id)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  // As long as it is somebody's zombie, it tells itself how it ended; and not every first process takes them away at once.
  for (const pid of pids) await until(`pid ${pid} to be no more`, () => stateOf(pid) === null)
}
const moveAway = (lab: Lab, session: string): void =>
  execute(lab, `UPDATE run SET place = json_set(place, '$.boot', 'other', '$.machine', 'other') WHERE session = '${session}'`)
const bringBack = (lab: Lab, session: string): void =>
  execute(lab, `UPDATE run SET place = (SELECT place FROM run WHERE session = 'live0') WHERE session = '${session}'`)

const agentOf = (lab: Lab, { id }: Run): number => Number.parseInt(readOr(join(lab.home, 'runs', id, 'pid')), 10)

async function liveRun(lab: Lab, session: string): Promise<Run> {
  const run = await until(`${session} to be on record`, async () => {
    const found = await rowOf(lab, session)
    return found !== null && found.keeper !== null && found
  })
  await until(`the agent of ${session}`, () => agentOf(lab, run) > 0)
  return run
}

/** Nobody of ours is there to see it. */
export async function strike(lab: Lab, victims: Victims): Promise<void> {
  const failed = await liveRun(lab, victims.failed)
  await hasChild(lab, victims.failed)
  process.kill(agentOf(lab, failed), 'SIGKILL')
  await gone(failed.keeper?.pid ?? 0)
  expect((await rowOf(lab, victims.failed))?.state).toMatch(/running|stopping/)
  expect((await rowOf(lab, victims.lost))?.state).toBe('running')
  // It was a while ago: nobody is left to be waited for.
  const then = new Date(Date.now() - 60_000)
  utimesSync(join(lab.home, 'runs', failed.id, 'exit'), then, then)
  bringBack(lab, victims.lost)
}

export async function settled(lab: Lab, victims: Victims): Promise<void> {
  await until(`the end of ${victims.lost}`, async () => {
    const rows = await Promise.all(sessionsOf(victims).map((session) => rowOf(lab, session)))
    return rows.every((run) => run !== null && !isLive(run))
  })
  const [lost, nested, failed] = await Promise.all(sessionsOf(victims).map((session) => rowOf(lab, session)))
  expect(lost).toMatchObject({ state: 'lost', exit: null })
  expect(nested).toMatchObject({ state: 'stopped' })
  expect(failed).toMatchObject({ state: 'failed', exit: { signal: 'SIGKILL' } })
  expect(JSON.stringify(failed)).toContain("the keeper's exit record")
  for (const run of [lost, nested, failed]) if (run) expect(isAlive(agentOf(lab, run)), `the agent of ${run.session}`).toBe(false)
}

/** Live runs, and one that cannot be judged from here, as if it was started on another machine: whatever happens meanwhile, they go on as they are. */
export async function amongTheLiving(lab: Lab, count: number, body: () => Promise<number>): Promise<void> {
  const sessions = Array.from({ length: count }, (_, index) => `live${index}`)
  startMany(lab, [...sessions, 'unknown'])
  const before = await Promise.all(sessions.map((session) => liveRun(lab, session)))
  const agents = before.map((run) => agentOf(lab, run))
  const unknown = await liveRun(lab, 'unknown')
  moveAway(lab, 'unknown')
  try {
    const made = await body()
    expect(await Promise.all(sessions.map((session) => rowOf(lab, session)))).toEqual(before)
    expect(agents.filter((pid) => !isAlive(pid))).toEqual([])
    expect(before.filter(({ keeper }) => !isAlive(keeper?.pid ?? 0))).toEqual([])
    expect(await rowOf(lab, 'unknown')).toMatchObject({ state: 'running', id: unknown.id })
    expect(isAlive(agentOf(lab, unknown))).toBe(true)
    await withStore(lab, async (store) => {
      for (const session of Array.from({ length: made }, (_, index) => sessionsOf(namesOf(index))).flat()) {
        const kinds = (await store.events.list({ session, after: 0, limit: 100 })).map(({ kind }) => kind)
        expect(
          kinds.filter((kind) => kind === 'ended' || kind === 'claimed'),
          session,
        ).toEqual(['claimed', 'ended'])
      }
    })
  } finally {
    execute(lab, `UPDATE run SET place = (SELECT place FROM run WHERE session = 'live0')`)
    // To stop a hundred takes long, and is not what is shown here.
    await Promise.all(before.map(({ id }) => killGuard(lab, id)))
    for (const { keeper } of before) process.kill(keeper?.pid ?? 0, 'SIGKILL')
    for (const pid of agents) process.kill(pid, 'SIGKILL')
    await lab.ok(['reconcile'])
  }
}

/** By one process, which is much faster than a command for each. */
function startMany(lab: Lab, sessions: readonly string[]): void {
  const script = `
    const [library, starters, ...runs] = process.argv.slice(1)
    import(library).then(async ({ openHoldfast }) => {
      const holdfast = openHoldfast()
      const startNext = async () => {
        for (let run = runs.pop(); run !== undefined; run = runs.pop())
          await holdfast.start({ session: run.split('/').at(-1), dir: run, argv: ['sleep', '100000'] })
      }
      await Promise.all(Array.from({ length: Number(starters) }, startNext))
    })`
  const runs = sessions.map((session) => dirOf(lab, session))
  const { status, stderr } = spawnSync(process.execPath, ['-e', script, resolve('dist/library.js'), '8', ...runs], {
    env: lab.env,
    cwd: lab.dir,
    encoding: 'utf8',
    timeout: 120_000,
  })
  expect(status, stderr).toBe(0)
}
