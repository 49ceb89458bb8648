import { type Counted, type Looked, lookAtAll, remember, type Surveyed, surveyAll } from '../../act/index.ts'
import { converge, isOrphan, type Verdict, verdict, type Want } from '../../decide/index.ts'
import type { LiveRun, ProcessId, Session, Store } from '../../model/index.ts'
import { isLive, MS_PER_TICK, Problem } from '../../model/index.ts'
import { activityOf } from '../activity/activity.ts'
import { learnNative } from '../conversation/conversation.ts'
import { learnAll } from '../conversation/learn.ts'
import { judgeLocks } from '../lock/judge-locks.ts'
import { forgottenLocks } from '../lock/trees-without-record.ts'
import { watchSpending } from '../see/watch-spending.ts'
import { spentBy } from '../usage/budget-spent.ts'
import { openNotes } from '../usage/nested-notes.ts'
import type { World } from '../world/world.ts'
import { breather } from '../world/yield-turn.ts'

/** One live run, as it was just seen, and what has to be done about it; null: nothing. `spent`: what it has burned, and might. */
export type PendingStep = {
  readonly run: LiveRun
  readonly seen: Looked
  readonly judged: Verdict
  readonly want: Want | null
  readonly spent: string | null
}

/** A run that could not be seen to, which is no reason not to see to the others. */
export type FailedRun = { readonly run: string; readonly session: string | null; readonly error: unknown }

export type Survey = { readonly due: readonly PendingStep[]; readonly sick: readonly FailedRun[] }

/**
 * `only`: these runs, instead of all. `thorough`: also where members listen, and which conversations agents carry. `patienceMs`: so much longer
 * a run's own timer has for what it sees to.
 */
export type How = { readonly only?: readonly string[]; readonly thorough: boolean; readonly patienceMs: number }

/** Looks at live runs and says what follows for each; nothing is done about it yet. */
export async function survey(world: World, store: Store, how: How): Promise<Survey> {
  const { views, unreadable } = how.only === undefined ? await currentViews(world, store) : await viewsOf(store, how.only)
  const sessions = new Map<string, Session>()
  const runs: LiveRun[] = []
  for (const { session, run } of views) {
    if (run === null || !isLive(run)) continue
    sessions.set(run.id, session)
    runs.push(run)
  }
  const sick: FailedRun[] = unreadable.map((run) => ({
    run,
    session: null,
    error: new Problem('run-unreadable', 'its row in the store makes no sense'),
  }))
  // For a few, a pass over everybody is made only where one of them is not alive.
  const look = how.only === undefined ? surveyAll : async (some: readonly LiveRun[]) => ({ looked: await lookAtAll(some, world), counted: new Map() })
  const surveyed = await lookAtEach((some) => look(some, world), runs, sick)
  const due: PendingStep[] = []
  const listening = how.thorough ? portsOf(world, surveyed.counted) : null
  const breathe = breather(world.clock)
  for (const run of runs) {
    const seen = surveyed.looked.get(run.id)
    if (seen === undefined) continue
    await breathe()
    try {
      world.runLogs.cap(run.id)
      const counted = surveyed.counted.get(run.id)
      if (counted !== undefined) noteMembers(world, run, counted, listening)
      due.push(await dueOf(world, store, { run, seen, counted, session: sessions.get(run.id) ?? null }, how))
    } catch (error) {
      sick.push({ run: run.id, session: run.session, error })
    }
  }
  return { due, sick }
}

/** With the conversations that their agents show now: who writes whose is seen only where all are looked at. */
async function currentViews(world: World, store: Store): ReturnType<Store['runs']['live']> {
  const seen = await store.runs.live(world.policy.sessionsShown)
  return (await learnAll(world, store, seen.views)) ? store.runs.live(world.policy.sessionsShown) : seen
}

async function viewsOf(store: Store, ids: readonly string[]): Promise<Awaited<ReturnType<Store['runs']['live']>>> {
  const views = []
  const unreadable: string[] = []
  for (const id of ids) {
    try {
      const run = await store.runs.get(id)
      const found = run === null || !isLive(run) ? null : await store.sessions.find(run.session, 'exact')
      if (run !== null && found?.kind === 'found') views.push({ session: found.view.session, run })
    } catch (error) {
      if (!(error instanceof Problem) || error.id !== 'run-unreadable') throw error
      unreadable.push(id)
    }
  }
  return { views, unreadable }
}

/** All together; only if that fails, one by one, so that whoever made it fail is alone with it. */
async function lookAtEach(look: (runs: readonly LiveRun[]) => Promise<Surveyed>, runs: readonly LiveRun[], sick: FailedRun[]): Promise<Surveyed> {
  try {
    return await look(runs)
  } catch (error) {
    if (runs.length === 1) sick.push(...runs.map((run) => ({ run: run.id, session: run.session, error })))
    if (runs.length <= 1) return { looked: new Map(), counted: new Map() }
  }
  const each: Surveyed[] = []
  for (const run of runs) each.push(await lookAtEach(look, [run], sick))
  return { looked: new Map(each.flatMap(({ looked }) => [...looked])), counted: new Map(each.flatMap(({ counted }) => [...counted])) }
}

const portsOf = ({ processes, policy }: World, counted: Surveyed['counted']): ReadonlyMap<number, readonly number[]> =>
  processes.ports([...counted.values()].flatMap(({ members }) => members.slice(0, policy.portsAsked).map(({ row }) => row.pid)))

/** Members seen now are known by identity later, when they may have lost every other proof. */
function noteMembers(world: World, run: LiveRun, { members }: Counted, listening: ReadonlyMap<number, readonly number[]> | null): void {
  const seen = listening === null ? members : members.map((member) => ({ ...member, ports: listening.get(member.row.pid) ?? [] }))
  remember(run, seen, world)
}

type Known = { readonly run: LiveRun; readonly seen: Looked; readonly counted: Counted | undefined; readonly session: Session | null }

async function dueOf(world: World, store: Store, { run, seen, counted, session }: Known, how: How): Promise<PendingStep> {
  const judged = verdict(run, seen)
  if (judged.kind === 'alive' && session !== null && how.thorough) await learnNative(world, store, run, session, counted?.members)
  const parentEnded = run.parent !== null && (await hasParentEnded(world, store, run, run.parent))
  const ran = run.deadlineAt === null ? 0 : ranMs(world, seen.harnessId) - how.patienceMs
  const step = converge(run, judged, { ranMs: ran, maySignal: true, parentEnded })
  if (how.only === undefined && session !== null && (judged.kind === 'alive' || judged.kind === 'leftovers')) {
    const activity = judged.kind === 'alive' && openNotes(world, run.id).length > 0 ? activityOf(world, session, run, () => seen.harnessId) : null
    const shown = { keeperGone: seen.keeper?.kind === 'gone', agentGone: seen.harness?.kind === 'gone', activity }
    await watchSpending(world, store, run, shown, 'glance')
  }
  const spent = judged.kind === 'alive' && step.kind === 'keep' ? await spentBy(world, store, run, how.patienceMs > 0) : null
  return { run, seen, judged, spent, want: spent === null ? wantOf(judged, step) : { kind: 'end', why: 'budget' } }
}

function wantOf(judged: Verdict, step: ReturnType<typeof converge>): Want | null {
  if (judged.kind === 'settling') return { kind: 'settle' }
  if (step.kind === 'record-end') return { kind: 'finish' }
  return step.kind === 'end-tree' ? { kind: 'end', why: step.why } : null
}

/** Since its agent was born. Only meant for one that is alive here. */
const ranMs = ({ processes }: Pick<World, 'processes'>, harness: ProcessId | null): number =>
  harness === null ? 0 : (processes.ticks() - harness.ticks) * MS_PER_TICK

async function hasParentEnded(world: World, store: Store, run: LiveRun, id: string): Promise<boolean> {
  const parent = await store.runs.get(id)
  if (parent === null || isLive(parent) || !isOrphan(run, parent, world.clock.now(), world.policy.launchMs)) return false
  // On record it is over; but what lives of it is what counts.
  const forgotten = (await forgottenLocks(store, parent.session)).filter((lock) => lock.run === parent.id)
  return [...(await judgeLocks(world, forgotten)).values()].every(({ kind }) => kind === 'free')
}
