import { dirname } from 'node:path'
import type { World } from '../world/world.ts'

export type ToWatch = {
  readonly folder: string
  readonly live: ReadonlySet<string>
  /** To be asked once its directory is watched: it may get one at any moment. */
  readonly cgroupOf: (run: string) => string | null
}

/** Where what happens to live runs shows: the folder of their directories, and the cgroup of each, as far as it has one. */
export async function runsToWatch({ runRecords, evidence, store }: Pick<World, 'evidence' | 'runRecords' | 'store'>): Promise<ToWatch> {
  const { live } = await (await store('writer')).retention.remains(0)
  return { folder: dirname(runRecords.path('-')), live, cgroupOf: evidence.cgroup }
}
