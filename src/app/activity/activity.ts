import { activityFrom, isHeadless } from '../../decide/index.ts'
import { HARNESSES } from '../../harness/index.ts'
import type { Activity, ActivityState, LiveRun, ProcessId, Run, Session, SessionRecord, Store } from '../../model/index.ts'
import { liveRunsOf } from '../../model/index.ts'
import { type StoreWatch, storeWatch } from '../../record/index.ts'
import { placesOf } from '../usage/usage-baseline.ts'
import { recordInPassing } from '../world/best-effort-write.ts'
import type { World } from '../world/world.ts'

/** What a run's agent is at, as far as anybody can tell: a few small files are read, and nothing is asked of anybody. */
export function activityOf(world: World, session: Session, run: LiveRun, harness: () => ProcessId | null): Activity | null {
  const { agentState, clock, policy } = world
  const registry = session.harness === null ? undefined : HARNESSES.find(({ name }) => name === session.harness)?.registry?.activity
  const hook = agentState.activity(run.id)
  const agent = session.harness === null ? null : harness()
  const registered = registry === undefined || agent === null ? null : registry(placesOf(world, run.id), agent)
  const outputAt = hook === null && registered === null ? outputOf(world, session, run, agent) : null
  const signs = { hook, registry: registered, outputAt, headless: outputAt !== null && endsWithAnswer(world, session, run) }
  return activityFrom(signs, clock.now(), policy.quietMs)
}

/** When something last came out of an agent where we can see it. What is no agent has no turns: its silence means nothing. */
const outputOf = (
  { runLogs, processes }: Pick<World, 'processes' | 'runLogs'>,
  { harness }: Session,
  run: LiveRun,
  agent: ProcessId | null,
): number | null => {
  if (harness === null) return null
  return run.detached && run.tmux === null ? runLogs.outputAt(run.id) : agent === null ? null : (processes.terminal(agent)?.outputAt ?? null)
}

/** It was given its prompt, on its command line or in a file, works on that, and is over with its answer. */
export function endsWithAnswer(world: Pick<World, 'agentState' | 'harnesses'>, session: Session, run: Run): boolean {
  const harness = world.harnesses().find(({ name }) => name === session.harness)
  return harness !== undefined && (isHeadless(harness, run.argv.slice(1)) || world.agentState.hasPrompt(run.id))
}

/** A hook has just said it: on file, if the hook has not written it itself, and on record. */
export async function noteActivity(world: Pick<World, 'agentState' | 'clock'>, store: Store, run: Run, state?: ActivityState): Promise<void> {
  if (state !== undefined) world.agentState.recordActivity(run.id, state)
  const noted = world.agentState.activity(run.id)
  if (noted !== null) await recordInPassing()(() => store.events.recordActivity(run, { ...noted, how: 'hook', gapMs: 0 }, world.clock.now()))
}

/** What was seen the last time: which runs live, what each agent was at, and until when no guess at it is recorded. */
export type SeenActivities = {
  readonly store: StoreWatch
  views: readonly SessionRecord[]
  readonly states: Map<string, ActivityState>
  readonly guessed: Map<string, number>
}
export const nothingSeen = (): SeenActivities => ({ store: storeWatch(), views: [], states: new Map(), guessed: new Map() })

/** Looks what all live agents are at, and records what nobody did. Where nothing has changed, only their small files are read. */
export async function watchActivities(world: World, seen: SeenActivities): Promise<Readonly<Record<string, number>>> {
  const { evidence, policy, clock } = world
  if (seen.store.isNew(world.home)) {
    seen.views = (await (await world.store('reader')).sessions.snapshot('live', policy.sessionsShown)).views
    const live = new Set(liveRunsOf(seen.views).map(({ id }) => id))
    for (const map of [seen.states, seen.guessed]) for (const id of map.keys()) if (!live.has(id)) map.delete(id)
    seen.store.settle()
  }
  const counts = { busy: 0, waiting: 0, idle: 0, changes: 0 }
  for (const { session, run } of seen.views) {
    const activity = run?.state === 'running' ? activityOf(world, session, run, () => evidence.harness(run.id)) : null
    if (run === null || activity === null) continue
    counts[activity.state]++
    if (seen.states.get(run.id) === activity.state) continue
    const isGuess = activity.how === 'output'
    // Only to be busy again has to wait. The store would be opened in vain: it takes one in so long.
    const waits = isGuess && activity.state === 'busy'
    if (waits && clock.elapsed() < (seen.guessed.get(run.id) ?? 0)) continue
    const isRecorded = await record(world, run, activity)
    if (isRecorded) counts.changes++
    if (isGuess) seen.guessed.set(run.id, clock.elapsed() + policy.activityEventMs)
    // A guess that was not recorded, since another was a moment ago, is one that still has to be.
    if (isRecorded || !waits) seen.states.set(run.id, activity.state)
  }
  return counts
}

async function record(world: World, run: Run, { state, how, since }: Activity): Promise<boolean> {
  const now = world.clock.now()
  const gapMs = how === 'output' && state === 'busy' ? world.policy.activityEventMs : 0
  return (await world.store('writer')).events.recordActivity(run, { state, how, since: since ?? now, gapMs }, now)
}
