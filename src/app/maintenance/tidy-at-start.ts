import type { Store } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { reapedText } from '../../show/index.ts'
import type { World } from '../world/world.ts'
import { cgroupsAt, clearAway, deadCgroups, filesOfKeepers, type Litter, locksOfProcesses } from './removable.ts'

/**
 * Removes what belonged to processes of ours that are gone, by their identity and never by age. Cheap enough for every start: one question
 * to the store, one folder of cgroups, so many runs at most, and no pass over all processes. Twice, or by two at once, it does no harm:
 * what is dead stays dead, an ended run never lives again, and a cgroup can be removed only while nobody is in it. Answers what was removed;
 * why anything else stayed is told by `prune` and `doctor`.
 */
export async function reap(
  world: Pick<World, 'cgroups' | 'clock' | 'containers' | 'evidence' | 'policy' | 'processes' | 'runRecords'>,
  store: Store,
): Promise<readonly Litter[]> {
  const most = world.policy.reapAtMost
  const base = world.cgroups.base()
  const cgroups = cgroupsAt(world, base.kind === 'base' ? [base.path] : [])
  const { locks, ended, live } = await store.retention.remains(most)
  const told = await clearAway([
    ...locksOfProcesses(world, store, locks),
    ...(await filesOfKeepers(world, store, ended)),
    ...deadCgroups(world, cgroups, live, most),
  ])
  return told.filter(({ keep }) => !keep)
}

/** The same beside a start, which waits for nobody and fails for nothing because of it: what could not be done the next one does. */
export async function reapInPassing(world: World): Promise<string[]> {
  try {
    return reapedText(await reap(world, await world.store('reader')), world.policy.namedAtMost)
  } catch (error) {
    if (error instanceof Problem) return []
    return [`what dead processes left was not removed: ${error instanceof Error ? error.message : String(error)}`]
  }
}
