import type { CgroupBase, Containment } from '../../model/index.ts'
import { cgroupName } from '../../model/index.ts'
import type { World } from './world.ts'

/** The strongest containment to be had here, for a run of this id. */
export function containmentFor(world: Pick<World, 'env' | 'keepers' | 'processes'>, run: string, base: CgroupBase): Containment {
  const name = cgroupName(world.processes.here().install, run)
  if (base.kind === 'base') return { level: 'cgroup', path: `${base.path}/${name}` }
  if (base.mount === null) return { level: 'none', why: base.why }
  const trouble = world.keepers.scopeTrouble(world.env)
  return trouble === null ? { level: 'scope', unit: `${name}.scope` } : { level: 'none', why: `${base.why}, and ${trouble}` }
}
