import type { Containers, Member, Run, Usage } from '../../model/index.ts'
import { censusOf } from '../look/look.ts'
import type { Lookable, LookPorts } from '../ports.ts'

/**
 * The cgroup of an ended run is removed, if it is empty. Who is in it and not of the run (spared, or of another one) moves to where it was
 * made; anybody else stays, and so does the cgroup: an end on a person's word may have been wrong.
 */
export async function release(run: Run | Lookable, hands: LookPorts & { readonly containers: Containers }): Promise<void> {
  const { evidence, cgroups, containers } = hands
  const path = evidence.cgroup(run.id) ?? (run.containment.level === 'cgroup' ? run.containment.path : null)
  if (path === null) return
  const inside = cgroups.view(path)
  if (inside.kind === 'present' && inside.pids.size > 0)
    for (const { pid } of (await censusOf(run, hands, false)).strangers) containers.admit(path.slice(0, path.lastIndexOf('/')), pid)
  containers.remove(path)
}

/**
 * What a run has burned. A cgroup has counted all that ever lived in it; without one it is what its members and those its keeper
 * has seen end add up to.
 */
export function usageOf(run: Lookable, members: readonly Member[], { evidence, cgroups, processes, tokensOfRun }: LookPorts): Usage | null {
  const tokens = tokensOfRun(run.id)
  const path = evidence.cgroup(run.id)
  const counted = path === null ? null : cgroups.cpuMs(path)
  if (counted !== null) return { cpuMs: counted, whole: true, tokens }
  const keeper = run.keeper === null ? null : processes.cpu(run.keeper)
  const seen = members.flatMap(({ row }) => processes.cpu(row) ?? [])
  if (keeper === null && seen.length === 0 && tokens === null) return null
  return { cpuMs: (keeper?.childrenMs ?? 0) + seen.reduce((sum, { ownMs, childrenMs }) => sum + ownMs + childrenMs, 0), whole: false, tokens }
}
