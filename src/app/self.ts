import { isLive, Problem } from '../model/index.ts'
import type { WhoSight } from '../show/index.ts'
import { frontOf, parentRun } from './caller.ts'
import type { World } from './world.ts'

/** Who the caller is. */
export type WhoAmI = WhoSight

/** From proof, at the moment of asking: never from what was believed before. */
export async function whoAmI(world: World): Promise<WhoAmI> {
  const run = await parentRun(world, frontOf(world), 'reader')
  if (run === null || !isLive(run)) return { kind: 'nobody', why: 'this process was started in no session' }
  const found = await (await world.store('reader')).find(run.session, 'exact')
  if (found.kind !== 'found') return { kind: 'nobody', why: `session ${run.session} is not on record` }
  return { kind: 'session', session: found.view.session, run, how: 'marker', why: `it carries the marker of run ${run.id}` }
}

/** For what only a session can do. */
export async function mySession(world: World, what: string): Promise<Extract<WhoAmI, { kind: 'session' }>> {
  const self = await whoAmI(world)
  if (self.kind === 'session') return self
  throw new Problem('noSuchSession', `only a session can ${what}, and you are in none: ${self.why}`, {
    hint: 'holdfast whoami tells who you are; holdfast run starts a session',
  })
}
