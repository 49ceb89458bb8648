import { isLive } from '../../model/index.ts'
import { type WhoAmI, whoAmI } from '../caller/who-am-i.ts'
import { learnAll } from '../conversation/learn.ts'
import type { World } from '../world/world.ts'

/** Who the caller is, with the conversation that its agent shows now. */
export async function whoAmINow(world: World): Promise<WhoAmI> {
  const self = await whoAmI(world)
  if (self.kind !== 'session' || !isLive(self.run)) return self
  return (await learnAll(world, await world.store('reader'))) ? whoAmI(world) : self
}
