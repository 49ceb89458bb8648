import type { CgroupView } from '../../model/index.ts'
import type { EndPorts } from '../ports.ts'

/**
 * Whether a tree grows faster than anybody could look at it, or keeps the machine so busy that even a look at its numbers takes that long ten
 * times over. Only a cgroup can tell that without looking at each.
 */
export async function isStorm(cgroup: string, { cgroups, clock, policy }: Pick<EndPorts, 'cgroups' | 'clock' | 'policy'>): Promise<boolean> {
  const before = pidsOf(cgroups.view(cgroup))
  if (before.size < policy.stormSize) return false
  await clock.sleep(policy.stormLookMs)
  const began = clock.elapsed()
  const newcomers = [...pidsOf(cgroups.view(cgroup))].filter((pid) => !before.has(pid))
  return newcomers.length > before.size / 10 || clock.elapsed() - began > policy.stormLookMs * 10
}

const pidsOf = (view: CgroupView): ReadonlySet<number> => (view.kind === 'present' ? view.pids : new Set())
