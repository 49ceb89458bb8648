import { runOutside } from '../world/run-outside.ts'
import type { World } from '../world/world.ts'

/** An agent that stops its own session cannot see it through: somebody outside does. */
export const stopFromOutside = (
  world: Pick<World, 'cgroups' | 'env' | 'home' | 'keepers'>,
  session: string,
  graceMs: number | undefined,
): Promise<number> => runOutside(world, ['stop', session, '--outside', ...(graceMs === undefined ? [] : ['--grace', `${graceMs}ms`])])
