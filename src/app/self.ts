import { decideSelf } from '../decide/index.ts'
import { Problem, type Self } from '../model/index.ts'
import { type Seen, selfFacts } from './self-facts.ts'
import type { World } from './world.ts'

/** Who the caller is. */
export type WhoAmI = Self

/** From proof, at the moment of asking: never from what was believed before. `seen`: all live sessions, if somebody has just looked. */
export const whoAmI = async (world: World, seen?: readonly Seen[]): Promise<WhoAmI> => decideSelf(await selfFacts(world, seen))

/** For what only a session can do. */
export async function mySession(world: World, what: string): Promise<Extract<WhoAmI, { kind: 'session' }>> {
  const self = await whoAmI(world)
  if (self.kind === 'session') return self
  throw new Problem('noSuchSession', `only a session can ${what}, and you are in none: ${self.why}`, {
    hint: 'holdfast whoami tells who you are; holdfast run starts a session',
  })
}
