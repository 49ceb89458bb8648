import type { Ended } from '../../model/index.ts'
import { isLive } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** How a run ended, if it has. */
export async function endOf(world: Pick<World, 'store'>, id: string): Promise<Ended | null> {
  const run = await (await world.store('reader')).runs.get(id)
  return run === null || isLive(run) ? null : run
}
