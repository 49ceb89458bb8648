import { censusOfAll, endRun, type Looked, lookAtAll, remember } from '../act/index.ts'
import { converge, isOrphan, type Step, verdict } from '../decide/index.ts'
import type { Intent, LiveRun, ProcessId, Run, Store, Survivor } from '../model/index.ts'
import { isLive, liveRunsOf, MS_PER_TICK } from '../model/index.ts'
import { endSpent } from './follow.ts'
import { forgottenLocks } from './forgotten.ts'
import { knownOf } from './harness.ts'
import { judgeLocks } from './locks.ts'
import { learnNative } from './native.ts'
import { sweepCgroups } from './prune.ts'
import { heldLocks } from './see-locks.ts'
import type { World } from './world.ts'

export type Change = {
  readonly session: string
  readonly run: string
  readonly from: string
  readonly to: string
  readonly why: string
  readonly survivors: readonly Survivor[]
}

/** Converge now: look at every live run, decide, act, record. Doing it twice changes nothing more. */
export async function reconcile(world: World): Promise<Change[]> {
  const store = await world.store('writer')
  const { views } = await store.snapshot('live', world.policy.sessionsShown)
  const runs = liveRunsOf(views)
  const looked = await lookAtAll(runs, world)
  await rememberMembers(world, runs, looked)
  const agents = new Set(views.filter(({ session }) => session.harness !== null).map(({ session }) => session.id))
  const changes: Change[] = []
  for (const run of runs) {
    world.files.capLog(run.id)
    const seen = looked.get(run.id) as Looked
    const about = { ranMs: ranMs(world, seen.harnessId), maySignal: true, parentEnded: await parentEnded(world, store, run) }
    const judged = verdict(run, seen)
    const step = converge(run, judged, about)
    const isSpent = judged.kind === 'alive' && agents.has(run.session) && (await learn(world, store, run))
    const after = isSpent
      ? await store.run(run.id)
      : judged.kind === 'settling'
        ? await end(world, store, run, null)
        : await perform(world, store, run, step)
    const survivors = after !== null && after.state === 'stopping' ? after.survivors : []
    if (after !== null && (after.state !== run.state || survivors.length > 0))
      changes.push({ session: run.session, run: run.id, from: run.state, to: after.state, why: isLive(after) ? '' : after.reason, survivors })
  }
  await heldLocks(world, store)
  await sweepCgroups(world, store)
  await housekeep(world, store)
  return changes
}

/** What a run's timer does too, should it be gone: which conversation its agent carries, and whether it has burned what it may; then
 * it was ended. */
async function learn(world: World, store: Store, run: LiveRun): Promise<boolean> {
  const known = await knownOf(world, store, run)
  if (known === null) return false
  await learnNative(world, store, run, known)
  return (await endSpent(world, run)) === 'ended'
}

/** Members seen now are known by identity later, when they may have lost every other proof. One pass for all. */
async function rememberMembers(world: World, runs: readonly LiveRun[], looked: ReadonlyMap<string, Looked>): Promise<void> {
  const alive = runs.filter((run) => looked.get(run.id)?.harness?.kind === 'alive')
  const counted = await censusOfAll(alive, world)
  const ports = world.processes.ports(counted.flatMap(([, { members }]) => members.slice(0, world.policy.portsAsked).map(({ row }) => row.pid)))
  for (const [run, { members }] of counted)
    remember(
      run,
      members.map((member) => ({ ...member, ports: ports.get(member.row.pid) ?? [] })),
      world,
    )
}

async function perform(world: World, store: Store, run: LiveRun, step: Step): Promise<Run | null> {
  switch (step.kind) {
    case 'keep':
      return null
    case 'record-exit':
      await store.recordExited(run, step.exit, world.clock.now())
      return store.run(run.id)
    case 'record-end':
    case 'end-tree':
      return end(world, store, run, step.kind === 'end-tree' ? (INTENTS[step.why] ?? null) : null)
  }
}

export const TIME_IS_OVER: Intent = { end: 'stopped', by: 'timeout', reason: 'its time was over (--timeout)' }

const INTENTS: { readonly [why: string]: Intent } = {
  timeout: TIME_IS_OVER,
  orphaned: { end: 'stopped', by: 'reconcile', reason: 'the session it was started in is over' },
}

async function end(world: World, store: Store, run: LiveRun, intent: Intent | null): Promise<Run> {
  await endRun(run, { ...world, store }, { intent, graceMs: world.policy.graceMs })
  return (await store.run(run.id)) ?? run
}

/** Since its agent was born. Only meant for one that is alive here. */
const ranMs = ({ processes }: World, harness: ProcessId | null): number => (harness === null ? 0 : (processes.ticks() - harness.ticks) * MS_PER_TICK)

async function parentEnded(world: World, store: Store, run: LiveRun): Promise<boolean> {
  const { clock, policy } = world
  const parent = run.parent === null ? null : await store.run(run.parent)
  if (parent === null || isLive(parent) || !isOrphan(run, parent, clock.now(), policy.launchMs)) return false
  // On record it is over; but what lives of it is what counts.
  const forgotten = (await forgottenLocks(store, parent.session)).filter((lock) => lock.run === parent.id)
  return [...(await judgeLocks(world, forgotten)).values()].every(({ kind }) => kind === 'free')
}

/** Forgets ended runs beyond retention, row and directory. */
export async function housekeep(world: World, store: Store): Promise<void> {
  const gone = await store.forget({
    endedBefore: world.clock.now() - world.policy.retentionMs,
    keep: world.policy.retentionRuns,
    limit: world.policy.pruneBatch,
  })
  for (const run of gone) world.files.remove(run)
}
