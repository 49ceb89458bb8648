import { censusOf, endRun, endTree, endWhatIsLeft, type RunEnd, untilKeeperLeft } from '../act/index.ts'
import type { Intent, LiveRun, Run, Session, Store } from '../model/index.ts'
import { isLive } from '../model/index.ts'
import { isHelper } from '../observe/index.ts'
import { ancestorsOf, frontOf, parentRun } from './caller.ts'
import { judgeLocks, recordOf } from './locks.ts'
import { findSession } from './see.ts'
import { stopFromOutside } from './stopper.ts'
import type { World } from './world.ts'

export type StopRequest = {
  readonly references: readonly string[]
  readonly all?: boolean
  readonly graceMs?: number
  readonly reason?: string
  readonly outside?: boolean
}
export type Stopped = {
  readonly session: string
  readonly end: RunEnd | { kind: 'not-running'; run: Run | null } | { kind: 'handed-over'; pid: number; run: LiveRun }
}

/** Ends sessions with all they started, and proves it. What has ended already is fine as it is. */
export async function stop(world: World, request: StopRequest): Promise<Stopped[]> {
  const store = await world.store('writer')
  const views =
    request.all === true
      ? (await store.snapshot('live', world.policy.sessionsShown)).views
      : await Promise.all([...new Set(request.references)].map((reference) => findSession(store, reference, 'exact')))
  const by = `${world.user()}@${world.host}`
  const intent: Intent = { end: 'stopped', by, reason: request.reason ?? `stopped by ${by}` }
  // One who was sent to do it from outside does it, wherever it is.
  const isOutside = request.outside === true && (isHelper() || world.keepers.markerTrouble() !== null)
  const around = isOutside ? null : await ancestorsOf(world, await parentRun(world, frontOf(world)))
  return Promise.all(views.map(({ session, run }) => stopOne(world, store, session, run, intent, request.graceMs, around)))
}

async function stopOne(
  world: World,
  store: Store,
  session: Session,
  run: Run | null,
  intent: Intent,
  graceMs: number | undefined,
  around: readonly string[] | null,
): Promise<Stopped> {
  const how = { intent, graceMs: graceMs ?? world.policy.graceMs }
  if (run === null) return { session: session.id, end: { kind: 'not-running', run } }
  if (!isLive(run)) {
    const tree = await endForgotten(world, store, run, how.graceMs)
    if (tree !== null) return { session: session.id, end: tree }
    const left = await endWhatIsLeft(run, { ...world, store }, how)
    return { session: session.id, end: left.kind === 'ended' && left.ended.length === 0 ? { kind: 'not-running', run } : left }
  }
  if (around !== null && (around.includes(run.id) || (await isInside(world, run)))) {
    return { session: session.id, end: { kind: 'handed-over', pid: await stopFromOutside(world, session.id, graceMs), run } }
  }
  const end = await endRun(run, { ...world, store }, how)
  if (end.kind === 'ended') {
    await untilKeeperLeft(end.run, world)
    world.files.capLog(run.id)
    world.files.tidy(run.id)
  }
  return { session: session.id, end }
}

/** Its run is over on record, but its lock says that its tree lives: the tree is what counts. Null: there is no such lock. */
async function endForgotten(world: World, store: Store, run: Run, graceMs: number): Promise<RunEnd | null> {
  const lock = (await store.locks([], null)).locks.find((candidate) => candidate.run === run.id && candidate.holder.kind === 'run')
  if (lock === undefined || lock.holder.kind !== 'run') return null
  const state = (await judgeLocks(world, [lock])).get(lock.seq)
  if (state?.kind === 'unknown') return { kind: 'unknown', run, why: state.why }
  const { ended, survivors, spared, blind } = await endTree(recordOf(lock, lock.holder), world, { graceMs })
  if (survivors.length > 0) return { kind: 'survivors', run, survivors, ended }
  if (blind !== null) return { kind: 'unknown', run, why: blind }
  await store.unlock(lock, null, world.clock.now())
  return { kind: 'ended', run, ended, spared, unrecorded: null }
}

/** Is this very command part of the tree? Then somebody outside has to end it. A cgroup tells without looking at everybody. */
async function isInside(world: World, run: LiveRun): Promise<boolean> {
  const self = world.processes.self()
  const cgroup = world.files.cgroup(run.id)
  const view = cgroup === null ? null : world.cgroups.view(cgroup)
  if (view?.kind === 'present') return view.pids.has(self.pid)
  return (await censusOf(run, world, false)).members.some(({ row }) => row.pid === self.pid && row.ticks === self.ticks)
}
