import { dirname } from 'node:path'
import type { World } from './world.ts'

/** Where what happens to live runs shows: the folder of their directories, and the cgroup of each, as far as it has one. */
export async function runsToWatch(world: World): Promise<{ folder: string; live: { id: string; cgroup: string | null }[] }> {
  const store = await world.store('writer')
  const { live } = await store.remains(0)
  return { folder: dirname(world.files.path('-')), live: [...live].map((id) => ({ id, cgroup: world.files.cgroup(id) })) }
}
