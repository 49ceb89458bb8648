import { censusOf, endRun, endWhatIsLeft, type LookPorts, type RunEnd, untilKeeperLeft, withSuspects } from '../../act/index.ts'
import type { Intent, LiveRun, Run, Session, SessionRecord, Store } from '../../model/index.ts'
import { isLive } from '../../model/index.ts'
import { ancestorsOf, parentRun } from '../caller/caller.ts'
import { endForgotten, forgottenLocks } from '../lock/trees-without-record.ts'
import { closePane } from '../pane/join-pane.ts'
import { findSeen } from '../see/find-seen.ts'
import { findSession } from '../see/find-session.ts'
import type { World } from '../world/world.ts'
import { stopFromOutside } from './stop-from-outside.ts'

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
      ? await allViews(world, store)
      : await Promise.all([...new Set(request.references)].map((reference) => findSeen(world, reference, 'near')))
  const by = `${world.user()}@${world.host}`
  const intent: Intent = { end: 'stopped', by, reason: request.reason ?? `stopped by ${by}` }
  // One who was sent to do it from outside does it, wherever it is.
  const isOutside = request.outside === true && (world.own.isHelper() || world.keepers.markerTrouble() !== null)
  const around = isOutside ? null : await ancestorsOf(world, await parentRun(world))
  const stopped = await Promise.all(views.map(({ session, run }) => stopOne(world, store, session, run, intent, request.graceMs, around)))
  const ends = await withSuspects(
    stopped.map(({ end }) => end),
    world,
  )
  return stopped.map((one, index) => ({ ...one, end: ends[index] ?? one.end }))
}

/** All that live, and those whose trees do although their runs are over. */
async function allViews(world: Pick<World, 'policy'>, store: Store): Promise<SessionRecord[]> {
  const { views } = await store.sessions.snapshot('live', world.policy.sessionsShown)
  const known = new Set(views.map(({ session }) => session.id))
  const forgotten = new Set((await forgottenLocks(store, null)).map(({ session }) => session).filter((session) => !known.has(session)))
  return [...views, ...(await Promise.all([...forgotten].map((session) => findSession(store, session, 'exact'))))]
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
  const forgotten = await endAllForgotten(world, store, session.id, how)
  if (forgotten !== null && (forgotten.kind !== 'ended' || run === null || !isLive(run))) return { session: session.id, end: forgotten }
  if (run === null) return { session: session.id, end: { kind: 'not-running', run } }
  if (!isLive(run)) {
    const left = await endWhatIsLeft(run, { ...world, store }, how)
    return { session: session.id, end: left.kind === 'ended' && left.ended.length === 0 ? { kind: 'not-running', run } : left }
  }
  if (around !== null && (around.includes(run.id) || (await isInside(world, run)))) {
    return { session: session.id, end: { kind: 'handed-over', pid: await stopFromOutside(world, session.id, graceMs), run } }
  }
  const end = await endRun(run, { ...world, store }, how)
  if (end.kind === 'ended') {
    await untilKeeperLeft(end.run, world)
    await closePane(world, end.run)
    world.runLogs.cap(run.id)
    world.runRecords.tidy(run.id)
  }
  return { session: session.id, end }
}

/** Trees that live on although their runs are over on record. Null: there are none; else what came of them. */
async function endAllForgotten(world: World, store: Store, session: string, how: { intent: Intent; graceMs: number }): Promise<RunEnd | null> {
  const ends: RunEnd[] = []
  for (const lock of await forgottenLocks(store, session)) ends.push(await endForgotten(world, store, lock, how.intent, how.graceMs))
  return ends.find(({ kind }) => kind !== 'ended') ?? ends[0] ?? null
}

/** Is this very command part of the tree? Then somebody outside has to end it. A cgroup tells without looking at everybody. */
async function isInside(world: LookPorts, run: LiveRun): Promise<boolean> {
  const self = world.processes.self()
  const cgroup = world.evidence.cgroup(run.id)
  const view = cgroup === null ? null : world.cgroups.view(cgroup)
  if (view?.kind === 'present') return view.pids.has(self.pid)
  return (await censusOf(run, world, false)).members.some(({ row }) => row.pid === self.pid && row.ticks === self.ticks)
}
