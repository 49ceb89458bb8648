import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { cgroupContainers, runFiles } from '../../src/keep/index.ts'
import { isLive, type Run } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { execute, rowOf, startDaemon, withStore } from './daemon-lab.ts'
import { COMMAND, gone, inLab, isAlive, type Lab, readOr, stateOf, TEST_COMMAND, until } from './lab.ts'

const LIVE = 100
/** What a port has that only looks; whatever else it has, and may get, is a step at which the daemon is killed. */
const READS = {
  files:
    /^(harness|timer|cgroup|journal|natives|usage|begun|aware|exit|notStarted|isRetired|intent|read|isUnreadable|list|litter|fence|path|readLog|tailOfLog|logSize)$/,
  containers: /^$/,
  store:
    /^(formerIds|said|unread|nativeOwner|find|locks|snapshot|liveRuns|strayLocks|run|runs|spent|children|startedIn|tasks|remains|live|ended|markers|runWithMarker|runByMarker|isEmpty|events|forgettable|close)$/,
} as const

async function steps(lab: Lab): Promise<string[]> {
  const ports = { files: runFiles(lab.home), containers: cgroupContainers, store: await withStore(lab, async (store) => store) }
  const written = Object.entries(ports).flatMap(([name, port]) =>
    Object.keys(port)
      .filter((method) => !READS[name as keyof typeof READS].test(method))
      .map((method) => `${name}.${method}`),
  )
  return [...written, 'processes.send']
}

type Victims = { readonly lost: string; readonly nested: string; readonly failed: string }
const sessionsOf = ({ lost, nested, failed }: Victims): string[] => [lost, nested, failed]
const dirOf = (lab: Lab, session: string): string => {
  mkdirSync(join(lab.dir, session), { recursive: true })
  return join(lab.dir, session)
}

/** One whose keeper and agent will be killed, with a run that it started; and one that leaves a child, and whose finisher dies before it ends that. */
async function startVictims(lab: Lab, index: number): Promise<Victims> {
  const victims = { lost: `lost${index}`, nested: `nested${index}`, failed: `failed${index}` }
  const nested = `${COMMAND} run --session ${victims.nested} --dir ${dirOf(lab, victims.nested)} --detach -- sleep 100000; exec sleep 100000`
  const leaving = 'setsid sleep 100000 & exec sleep 100000'
  await lab.ok(['run', '--session', victims.lost, '--dir', dirOf(lab, victims.lost), '--detach', '--', 'sh', '-c', nested])
  await lab.ok(['run', '--session', victims.failed, '--dir', dirOf(lab, victims.failed), '--detach', '--', 'sh', '-c', leaving], {
    command: TEST_COMMAND,
    env: { HOLDFAST_FAILPOINTS: 'before:processes.send=kill' },
  })
  return victims
}

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
async function strike(lab: Lab, victims: Victims): Promise<void> {
  await liveRun(lab, victims.nested)
  const lost = await liveRun(lab, victims.lost)
  const failed = await liveRun(lab, victims.failed)
  for (const pid of [lost.keeper?.pid ?? 0, agentOf(lab, lost), agentOf(lab, failed)]) process.kill(pid, 'SIGKILL')
  await gone(failed.keeper?.pid ?? 0)
  // As long as it is somebody's zombie, it tells itself how it ended.
  for (const pid of [lost.keeper?.pid ?? 0, agentOf(lab, lost)]) await until(`pid ${pid} to be no more`, () => stateOf(pid) === null)
  expect((await rowOf(lab, victims.failed))?.state).toMatch(/running|stopping/)
}

async function settled(lab: Lab, victims: Victims): Promise<void> {
  await until(
    `the end of ${victims.lost}`,
    async () => {
      const rows = await Promise.all(sessionsOf(victims).map((session) => rowOf(lab, session)))
      return rows.every((run) => run !== null && !isLive(run))
    },
    30_000,
  )
  const [lost, nested, failed] = await Promise.all(sessionsOf(victims).map((session) => rowOf(lab, session)))
  expect(lost).toMatchObject({ state: 'lost', exit: null })
  expect(nested).toMatchObject({ state: 'stopped' })
  expect(failed).toMatchObject({ state: 'failed', exit: { signal: 'SIGKILL' } })
  expect(JSON.stringify(failed)).toContain("the keeper's exit record")
  for (const run of [lost, nested, failed]) if (run) expect(isAlive(agentOf(lab, run)), `the agent of ${run.session}`).toBe(false)
}

/** Kills one after each step that it is known to make, and has the next one go on. */
async function killAtEachStep(lab: Lab, makeVictims: (index: number) => Promise<Victims>): Promise<{ made: string[]; reached: string[] }> {
  const first = await makeVictims(0)
  await strike(lab, first)
  const traced = startDaemon(lab, { failpoints: (await steps(lab)).map((step) => `after:${step}=say`).join(',') })
  await settled(lab, first)
  await traced.kill()
  const made = [...new Set([...traced.text().matchAll(/^failpoint (\S+)$/gm)].map((match) => match[1] ?? ''))]
  const reached: string[] = []
  let index = 1
  for (const step of made) {
    const victims = await makeVictims(index++)
    await strike(lab, victims)
    const dying = startDaemon(lab, { failpoints: `after:${step}=kill` })
    const moment = (): Promise<false> => new Promise((over) => setTimeout(() => over(false), 1000))
    const died = await Promise.race([dying.exited.then(() => true), settled(lab, victims).then(moment, moment)])
    if (died) reached.push(step)
    else await dying.kill()
    const next = startDaemon(lab)
    await settled(lab, victims)
    await next.kill()
  }
  return { made, reached }
}

verifies(
  'evidence',
  'a daemon that is killed after each of its durable steps, among 100 live runs, loses nothing: the next one adopts what lives and finishes what ended',
  () =>
    inLab(async (lab) => {
      const sessions = Array.from({ length: LIVE }, (_, index) => `live${index}`)
      await inParallel(sessions, 4, async (session) => {
        await lab.ok(['run', '--session', session, '--dir', dirOf(lab, session), '--detach', '--', 'sleep', '100000'])
      })
      console.log('started', performance.now())
      const before = await Promise.all(sessions.map((session) => liveRun(lab, session)))
      const agents = before.map((run) => agentOf(lab, run))
      // One that cannot be judged from here: as if it was started on another machine.
      await lab.ok(['run', '--session', 'unknown', '--dir', dirOf(lab, 'unknown'), '--detach', '--', 'sleep', '100000'])
      const unknown = await liveRun(lab, 'unknown')
      execute(lab, `UPDATE run SET place = json_set(place, '$.boot', 'other', '$.machine', 'other') WHERE id = '${unknown.id}'`)
      try {
        const started = new Map<number, Promise<Victims>>()
        // The next ones are started while these are seen to.
        const victims = (index: number): Promise<Victims> => {
          for (const one of [index, index + 1]) if (!started.has(one)) started.set(one, startVictims(lab, one))
          return started.get(index) as Promise<Victims>
        }
        const { made, reached } = await killAtEachStep(lab, victims)
        console.log(made, reached, performance.now())
        await Promise.all(started.values())
        for (const step of ['store.recordEnded', 'store.recordAsked', 'files.retire', 'containers.remove', 'processes.send'])
          expect(reached).toContain(step)
        expect(await Promise.all(sessions.map((session) => rowOf(lab, session)))).toEqual(before)
        expect(agents.filter((pid) => !isAlive(pid))).toEqual([])
        for (const { keeper } of before) expect(isAlive(keeper?.pid ?? 0)).toBe(true)
        expect(await rowOf(lab, 'unknown')).toMatchObject({ state: 'running', id: unknown.id })
        expect(isAlive(agentOf(lab, unknown))).toBe(true)
        await withStore(lab, async (store) => {
          for (let index = 0; index <= made.length; index++)
            for (const session of [`lost${index}`, `nested${index}`, `failed${index}`]) {
              const kinds = (await store.events({ session, after: 0, limit: 100 })).map(({ kind }) => kind)
              expect(
                kinds.filter((kind) => kind === 'ended' || kind === 'claimed'),
                session,
              ).toEqual(['claimed', 'ended'])
            }
        })
      } finally {
        execute(lab, `UPDATE run SET place = (SELECT place FROM run WHERE session = 'live0') WHERE id = '${unknown.id}'`)
      }
    }),
  300_000,
)

async function inParallel<T>(items: readonly T[], workers: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
    }),
  )
}
