import { decideSelf, mayBeOthers } from '../decide/index.ts'
import { Problem, type Run, type Self } from '../model/index.ts'
import { parentRun } from './caller.ts'
import { type Seen, selfFacts } from './self-facts.ts'
import type { World } from './world.ts'

/** Who the caller is. */
export type WhoAmI = Self

/** From proof, at the moment of asking: never from what was believed before. `seen`: all live sessions, if somebody has just looked. */
export const whoAmI = async (world: World, seen?: readonly Seen[]): Promise<WhoAmI> => decideSelf(await selfFacts(world, 'reader', seen))

/** The run that this command was started in: ours, or else the one whose marker we have. */
export async function runAround(world: World, as: 'writer' | 'reader'): Promise<Run | null> {
  const facts = await selfFacts(world, as)
  const self = decideSelf(facts)
  if (self.kind === 'session') return self.run
  return mayBeOthers(facts) ? null : parentRun(world, as)
}

/** For what only a session can do. */
export async function mySession(world: World, what: string): Promise<Extract<WhoAmI, { kind: 'session' }>> {
  const self = await whoAmI(world)
  if (self.kind === 'session') return self
  throw new Problem('noSuchSession', `only a session can ${what}, and you are in none: ${self.why}`, {
    hint: 'holdfast whoami tells who you are; holdfast run starts a session',
  })
}
