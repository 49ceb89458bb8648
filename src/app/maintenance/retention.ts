import type { Store } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** Forgets ended runs beyond retention, row and directory. */
export async function housekeep(world: Pick<World, 'clock' | 'policy' | 'runRecords'>, store: Store): Promise<void> {
  const gone = await store.retention.forget({
    endedBefore: world.clock.now() - world.policy.retentionMs,
    keep: world.policy.retentionRuns,
    limit: world.policy.pruneBatch,
  })
  for (const run of gone) world.runRecords.remove(run)
}
