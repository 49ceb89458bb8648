import { activityFrom, isHeadless } from '../decide/index.ts'
import { HARNESSES } from '../harness/index.ts'
import type { Activity, ActivityState, LiveRun, ProcessId, Run, Session, Store } from '../model/index.ts'
import { liveRunsOf } from '../model/index.ts'
import { placesOf } from './begun.ts'
import { recordInPassing } from './record.ts'
import type { World } from './world.ts'

/** What a run's agent is at, as far as anybody can tell: a few small files are read, and nothing is asked of anybody. */
export function activityOf(world: World, session: Session, run: LiveRun, harness: ProcessId | null): Activity | null {
  const { files, clock, policy } = world
  const registry = session.harness === null ? undefined : HARNESSES.find(({ name }) => name === session.harness)?.registry?.activity
  const hook = files.activity(run.id)
  const registered = registry === undefined || harness === null ? null : registry(placesOf(world, run.id), harness)
  const outputAt = hook === null && registered === null ? outputOf(world, session, run) : null
  const signs = { hook, registry: registered, outputAt, headless: outputAt !== null && endsWithAnswer(world, session, run) }
  return activityFrom(signs, clock.now(), policy.quietMs)
}

/** When something last came out of an agent where we can see it. What is no agent has no turns: its silence means nothing. */
const outputOf = ({ files }: World, { harness }: Session, run: LiveRun): number | null =>
  harness !== null && run.detached ? files.outputAt(run.id) : null

export function endsWithAnswer(world: World, session: Session, run: Run): boolean {
  const harness = world.harnesses().find(({ name }) => name === session.harness)
  return harness !== undefined && isHeadless(harness, run.argv.slice(1))
}

/** A hook has just said it: on file, if the hook has not written it itself, and on record. */
export async function noteActivity(world: World, store: Store, run: Run, state?: ActivityState): Promise<void> {
  if (state !== undefined) world.files.recordActivity(run.id, state)
  const noted = world.files.activity(run.id)
  if (noted !== null) await recordInPassing()(() => store.recordActivity(run, { ...noted, how: 'hook', gapMs: 0 }, world.clock.now()))
}

/** What was seen of each live run the last time. */
export type SeenActivities = Map<string, ActivityState>

/** Looks what all live agents are at, and records what nobody did. `seen` is kept up to date: what has not changed costs no write. */
export async function watchActivities(world: World, seen: SeenActivities): Promise<Readonly<Record<string, number>>> {
  const store = await world.store('writer')
  const { views } = await store.snapshot('live', world.policy.sessionsShown)
  const live = new Set(liveRunsOf(views).map(({ id }) => id))
  for (const id of seen.keys()) if (!live.has(id)) seen.delete(id)
  const counts = { busy: 0, waiting: 0, idle: 0, changes: 0 }
  for (const { session, run } of views) {
    if (run === null || run.state !== 'running') continue
    const activity = activityOf(world, session, run, world.files.harness(run.id))
    if (activity === null) continue
    counts[activity.state]++
    if (seen.get(run.id) === activity.state) continue
    const { state, how, since } = activity
    const now = world.clock.now()
    const gapMs = how === 'output' ? world.policy.activityEventMs : 0
    if (await store.recordActivity(run, { state, how, since: since ?? now, gapMs }, now)) counts.changes++
    // What was only not told again yet is looked at again.
    if (how !== 'output') seen.set(run.id, state)
  }
  return counts
}
