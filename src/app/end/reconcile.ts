import { endRun } from '../../act/index.ts'
import type { Intent, Run, Store, Survivor } from '../../model/index.ts'
import { BY, isLive } from '../../model/index.ts'
import { stuckText } from '../../show/index.ts'
import { judgeLocks } from '../lock/judge-locks.ts'
import { sweepCgroups } from '../maintenance/prune.ts'
import { housekeep } from '../maintenance/retention.ts'
import { recordInPassing } from '../world/best-effort-write.ts'
import type { World } from '../world/world.ts'
import { intentFor, TIME_IS_OVER } from './end-reasons.ts'
import { type PendingStep, survey } from './survey.ts'

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
  const { due, sick } = await survey(world, store, { thorough: true, patienceMs: 0 })
  const changes: Change[] = []
  const failures = sick.flatMap(({ session, error }) => (session === null ? [] : [error]))
  for (const one of due) {
    try {
      const { change } = await carryOut(world, store, one)
      if (change !== null) changes.push(change)
    } catch (error) {
      failures.push(error)
    }
  }
  await freeLocks(world, store)
  await sweepCgroups(world, store)
  await housekeep(world, store)
  // What could be done is done: now it is told what could not.
  for (const failure of failures) throw failure
  return changes
}

/** What came of it. `change`: null, nothing has changed. `stuck`: what keeps it from its end, if something does. */
export type StepResult = { readonly change: Change | null; readonly stuck: string | null }

/** Does what a look has shown to be due. */
export async function carryOut(world: World, store: Store, { run, seen, want, spent }: PendingStep): Promise<StepResult> {
  if (want === null) return { change: null, stuck: null }
  const intent = want.kind !== 'end' ? null : want.why === 'budget' ? intentFor(spent ?? '') : (INTENTS[want.why] ?? null)
  const end = await endRun(run, { ...world, store }, { intent, graceMs: world.policy.graceMs }, want.kind === 'finish' ? seen : undefined)
  if (end.kind === 'ended' && end.unrecorded !== null) throw end.unrecorded
  const after: Run = (await store.runs.get(run.id)) ?? run
  const survivors = after.state === 'stopping' ? after.survivors : []
  const stuck = isLive(after) ? stuckText(end, world.policy.namedAtMost) : null
  if (after.state === run.state && survivors.length === 0) return { change: null, stuck }
  return { change: { session: run.session, run: run.id, from: run.state, to: after.state, why: isLive(after) ? '' : after.reason, survivors }, stuck }
}

const INTENTS: { readonly [why: string]: Intent } = {
  timeout: TIME_IS_OVER,
  orphaned: { end: 'stopped', by: BY.orphan, reason: 'the session it was started in is over' },
}

/** Takes away the locks that nobody holds any more. One of a live run goes when that run's end is recorded, not before. */
export async function freeLocks(world: World, store: Store): Promise<void> {
  const locks = await store.locks.strays()
  if (locks.length === 0) return
  const judged = await judgeLocks(world, locks)
  const record = recordInPassing()
  for (const lock of locks) {
    if (judged.get(lock.seq)?.kind !== 'free') continue
    // Its run may have come on record since.
    const isLocked = lock.holder.kind === 'run' && lock.run !== null && (await store.runs.liveAmong([lock.run])).has(lock.run)
    if (!isLocked) await record(() => store.locks.free(lock, null, world.clock.now()))
  }
}
