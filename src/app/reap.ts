import type { Store } from '../model/index.ts'
import { reapedText } from '../show/index.ts'
import { cgroupsAt, clearAway, deadCgroups, filesOfKeepers, type Litter, locksOfProcesses } from './litter.ts'
import type { World } from './world.ts'

/** What was removed of what dead processes of ours had left, and what stayed of what was looked at, each with its reason. */
export type Reaped = { readonly removed: readonly Litter[]; readonly stayed: readonly Litter[] }

/**
 * Removes what belonged to processes of ours that are gone, by their identity and never by age. Cheap enough for every start: one question
 * to the store, one folder of cgroups, so many runs at most, and no pass over all processes. Twice, or by two at once, it does no harm:
 * what is dead stays dead, an ended run never lives again, and a cgroup can be removed only while nobody is in it.
 */
export async function reap(world: World, store: Store): Promise<Reaped> {
  const most = world.policy.reapAtMost
  const base = world.cgroups.base()
  const cgroups = cgroupsAt(world, base.kind === 'base' ? [base.path] : [])
  const { locks, ended, live } = await store.remains(most)
  const told = await clearAway([
    ...locksOfProcesses(world, store, locks),
    ...(await filesOfKeepers(world, store, ended)),
    ...deadCgroups(world, cgroups, live, most),
  ])
  return { removed: told.filter(({ keep }) => !keep), stayed: told.filter(({ keep }) => keep) }
}

/** The same beside a start, which it must not make fail whatever happens: what it could not do is said, and the next one does it. */
export async function reapInPassing(world: World, store: Store): Promise<string[]> {
  try {
    return reapedText((await reap(world, store)).removed, world.policy.namedAtMost)
  } catch (error) {
    return [`what dead processes left was not removed: ${error instanceof Error ? error.message : String(error)}`]
  }
}
