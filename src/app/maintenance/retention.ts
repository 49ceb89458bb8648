import type { Retention, Store } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** Forgets ended runs beyond retention, directory and row. */
export async function housekeep(world: Pick<World, 'clock' | 'policy' | 'runRecords'>, store: Store): Promise<void> {
  const endedBefore = world.clock.now() - world.policy.retentionMs
  await forgetBatch(world, store, { endedBefore, keep: world.policy.retentionRuns, limit: world.policy.pruneBatch })
}

/** The directory goes first: one without a row is that of a run which an older store does not know. */
export async function forgetBatch(
  world: Pick<World, 'runRecords'>,
  store: Store,
  which: Retention,
  each = async (): Promise<void> => {},
): Promise<void> {
  const only = await store.retention.forgettable(which)
  for (const run of only) {
    world.runRecords.remove(run)
    await each()
  }
  if (only.length > 0) await store.retention.forget({ ...which, only })
}
