import { endTimer, endTree, type RunEnd } from '../../act/index.ts'
import type { Intent, Lock, RunHolder, Store } from '../../model/index.ts'
import { asLive } from '../recover/recover.ts'
import type { World } from '../world/world.ts'
import { judgeLocks, recordOfLock } from './judge-locks.ts'

/** A run's lock whose run is over on record, or not on record at all: should its tree live, that is what counts. */
export type Forgotten = Lock & { readonly holder: RunHolder; readonly run: string; readonly session: string }

/** Of one session, or (null) of all. `known`: all locks, if somebody has just looked. */
export async function forgottenLocks(store: Store, session: string | null, known?: readonly Lock[]): Promise<Forgotten[]> {
  const locks = known ?? (await store.locks.all([], null)).locks
  const ofRuns = locks.filter((lock): lock is Forgotten => lock.holder.kind === 'run' && lock.run !== null && lock.session !== null)
  const mine = session === null ? ofRuns : ofRuns.filter((lock) => lock.session === session)
  const live = await store.runs.liveAmong(mine.map(({ run }) => run))
  return mine.filter(({ run }) => !live.has(run))
}

/** Of these, those that are still so: a run may have come on record, or ended with its lock, since the locks were read. */
export async function stillForgotten(store: Store, locks: readonly Forgotten[]): Promise<Forgotten[]> {
  if (locks.length === 0) return []
  const now = new Set((await forgottenLocks(store, null)).map(({ seq }) => seq))
  return locks.filter(({ seq }) => now.has(seq))
}

/** Ends the tree of one, and proves it. Its run keeps the end that it has on record: that is final. */
export async function endForgotten(world: World, store: Store, lock: Forgotten, intent: Intent, graceMs: number): Promise<RunEnd> {
  const record = recordOfLock(lock, lock.holder)
  const run = (await store.runs.get(lock.run)) ?? asLive(record)
  const state = (await judgeLocks(world, [lock])).get(lock.seq)
  if (state?.kind === 'unknown') return { kind: 'unknown', run, why: state.why }
  world.fences.retire(lock.run, intent)
  const { ended, survivors, spared, blind } = await endTree(record, world, { graceMs })
  if (survivors.length > 0) return { kind: 'survivors', run, survivors, ended }
  if (blind !== null) return { kind: 'unknown', run, why: blind }
  endTimer(record, world)
  await store.locks.free(lock, { by: intent.by, reason: `what lived on of it was ended: ${intent.reason}` }, world.clock.now())
  return { kind: 'ended', run, ended, spared, unrecorded: null }
}
