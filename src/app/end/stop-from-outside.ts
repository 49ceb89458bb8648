import { newMarker, OWN_VARIABLES } from '../world/ids.ts'
import type { World } from '../world/world.ts'

/** An agent that stops its own session cannot see it through: somebody outside does. */
export function stopFromOutside(
  world: Pick<World, 'cgroups' | 'env' | 'home' | 'keepers'>,
  session: string,
  graceMs: number | undefined,
): Promise<number> {
  const args = ['stop', session, '--outside', '--home', world.home, ...(graceMs === undefined ? [] : ['--grace', `${graceMs}ms`])]
  const env = { ...world.env }
  for (const name of OWN_VARIABLES) delete env[name]
  const base = world.cgroups.base()
  return world.keepers.outside(
    args,
    env,
    world.keepers.markerTrouble() === null ? newMarker('helper') : null,
    base.kind === 'base' ? base.path : null,
  )
}
