import { censusOf, endTree, type Looked, type LookPorts, lookAt, lookAtAll, release } from '../../act/index.ts'
import { verdict } from '../../decide/index.ts'
import type { Intent, LiveRun, Survivor } from '../../model/index.ts'
import { BY, Problem } from '../../model/index.ts'
import type { SessionView } from '../../show/index.ts'
import type { World } from '../world/world.ts'
import { asLive, readAll } from './recover.ts'

/** What the run directories alone tell, when the store cannot be used: enough to see what runs, and to stop it. */
export async function seeWithoutStore(world: LookPorts): Promise<SessionView[]> {
  const runs = readAll(world.runRecords).map(asLive)
  const looked = await lookAtAll(runs, world)
  return runs.flatMap((run): SessionView[] => {
    const seen = looked.get(run.id) as Looked
    const judged = verdict(run, seen)
    if (judged.kind === 'over') return []
    return [
      {
        run,
        tasks: [],
        pid: seen.harnessId?.pid ?? null,
        note: judged.kind === 'unknown' ? judged.why : 'from its run directory; the store cannot be used',
        session: sessionOf(run),
        liveness: judged.kind === 'unknown' ? 'unknown' : judged.kind === 'settling' ? 'dead' : 'alive',
      },
    ]
  })
}

export type StoppedWithoutStore = {
  readonly session: string
  readonly pids: readonly number[]
  readonly survivors: readonly Survivor[]
  readonly unproven: string | null
  /** Who asked for it is on disk. */
  readonly noted: boolean
}

/** As far as a run's directory tells: by its session's id, or one that this had before. */
export const isCalled = ({ runRecords }: Pick<World, 'runRecords'>, { run }: SessionView, reference: string): boolean =>
  [run.session, run.id, ...(runRecords.read(run.id)?.former ?? [])].includes(reference)

export const unknownWithoutStore = (reference: string, trouble: Problem | null): Problem =>
  new Problem(
    'session-unknown-without-store',
    `the store cannot be used, and no run directory shows a live session ${reference}${trouble === null ? '' : `: ${trouble.message}`}`,
    trouble?.hint == null ? {} : { hint: trouble.hint },
  )

/** The tombstone keeps who asked, so that the end is called by its name once the store can be told. */
export async function stopWithoutStore(
  world: World,
  references: readonly string[],
  { all, graceMs, trouble }: { readonly all: boolean; readonly graceMs: number; readonly trouble: Problem },
): Promise<StoppedWithoutStore[]> {
  const sights = await seeWithoutStore(world)
  const named = (reference: string): SessionView => {
    const sight = sights.find((one) => isCalled(world, one, reference))
    if (sight === undefined) throw unknownWithoutStore(reference, trouble)
    return sight
  }
  const by = `${world.user()}@${world.host}`
  return endAll(world, all ? sights : withChildren(references.map(named), sights), { end: 'stopped', by, reason: `stopped by ${by}` }, graceMs)
}

function endAll(world: World, wanted: readonly SessionView[], intent: Intent, graceMs: number): Promise<StoppedWithoutStore[]> {
  return Promise.all(
    wanted.map(async ({ run, liveness, note }) => {
      if (liveness === 'unknown') return { session: run.session, pids: [], survivors: [], unproven: note, noted: false }
      // Where nothing can be written, its keeper is told: what it was told it writes down itself, if it can, and then has it recorded.
      const noted = world.fences.retire(run.id, intent)
      const told = noted ? [] : await tellKeeper(world, run as LiveRun)
      const end = await endTree(run as LiveRun, world, { graceMs })
      await release(run, world)
      const pids = [...new Set([...told, ...end.ended.map(({ row }) => row.pid)])]
      return { session: run.session, pids, survivors: end.survivors, unproven: end.blind, noted }
    }),
  )
}

/** Who was of the run before its keeper heard of it: that one ends its agent at once. */
async function tellKeeper(world: World, run: LiveRun): Promise<number[]> {
  if (run.keeper === null) return []
  const { members } = await censusOf(run, world, false)
  return world.processes.send(run.keeper, 'SIGTERM') === 'sent' ? members.map(({ row }) => row.pid) : []
}

/**
 * What a keeper (no intent) or its timer wants done, when the store cannot be used: what is left of a run, and what was started in it, is
 * ended now; that it ended is recorded by a later look. False: it is not over.
 */
export async function endWithoutStore(world: World, id: string, intent: Intent | null): Promise<boolean> {
  const record = world.runRecords.read(id)
  if (record === null) return true
  const run = asLive(record)
  const judged = verdict(run, await lookAt(run, world))
  if (judged.kind === 'unknown' || (intent === null && judged.kind !== 'leftovers' && judged.kind !== 'over')) return false
  const own: SessionView = { run, session: sessionOf(run), liveness: 'alive', pid: null, note: null, tasks: [] }
  const [, ...children] = withChildren([own], await seeWithoutStore(world))
  const graceMs = intent === null ? world.policy.leftoverGraceMs : world.policy.graceMs
  const asked: Intent = intent ?? { end: 'stopped', by: BY.orphan, reason: `the session it was started in (${run.session}) ended` }
  const ends = await endAll(world, intent === null ? children : [...children, own], asked, graceMs)
  // What its agent left is not asked for by anybody: no tombstone.
  const left = judged.kind === 'leftovers' ? await endTree(run, world, { graceMs }) : null
  await release(run, world)
  return (
    ends.every(({ survivors, unproven }) => survivors.length === 0 && unproven === null) &&
    (left === null || (left.survivors.length === 0 && left.blind === null))
  )
}

const sessionOf = (run: LiveRun): SessionView['session'] => ({
  id: run.session,
  name: null,
  epoch: run.epoch,
  dir: run.dir,
  argv: run.argv,
  createdAt: run.startedAt,
  harness: null,
  native: null,
  wentTo: null,
})

function withChildren(wanted: readonly SessionView[], all: readonly SessionView[]): SessionView[] {
  const family = [...wanted]
  for (let index = 0; index < family.length; index++) {
    const parent = family[index]?.run.id
    family.push(...all.filter(({ run }) => run.parent === parent && !run.independent && !family.some((known) => known.run.id === run.id)))
  }
  return family
}
