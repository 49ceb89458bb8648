import { newMarker, OWN_VARIABLES } from './ids.ts'
import type { World } from './world.ts'

/** Runs our own command as a helper that belongs to no run: what it ends is never itself. */
export function runOutside(world: Pick<World, 'cgroups' | 'env' | 'home' | 'keepers'>, args: readonly string[]): Promise<number> {
  const env = { ...world.env }
  for (const name of OWN_VARIABLES) delete env[name]
  const base = world.cgroups.base()
  const marker = world.keepers.markerTrouble() === null ? newMarker('helper') : null
  return world.keepers.outside([...args, '--home', world.home], env, marker, base.kind === 'base' ? base.path : null)
}
