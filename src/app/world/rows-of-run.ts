import type { ProcessId, ProcessRow, Run } from '../../model/index.ts'
import { innermostCookie, isDead, LINEAGE_VARIABLE } from '../../model/index.ts'
import type { World } from './world.ts'

export const MAX_ROWS = 2000

/** Those in the cgroup of a run, or below its command: a cheap look, which proves nobody a member. */
export function rowsNear(
  { cgroups, evidence, processes }: Pick<World, 'cgroups' | 'evidence' | 'processes'>,
  run: string,
  command: ProcessId,
): ProcessRow[] {
  const path = evidence.cgroup(run)
  const view = path === null ? null : cgroups.view(path)
  const pids = new Set([command.pid, ...(view?.kind === 'present' ? view.pids : [])])
  if (view?.kind !== 'present')
    for (const pid of pids) {
      for (const child of processes.children(pid)) pids.add(child)
      if (pids.size > MAX_ROWS) break
    }
  return [...pids].flatMap((pid) => {
    const seen = processes.sample(pid)
    return seen.kind === 'seen' && !isDead(seen.row.state) ? [seen.row] : []
  })
}

/** What was started inside as a run of its own is not of this one. */
export function isOfRun({ processes }: Pick<World, 'processes'>, run: Pick<Run, 'marker' | 'cookie'>, { pid }: ProcessRow): boolean {
  const marker = processes.marker(pid)
  if (run.marker !== null) return marker === null || marker === undefined || marker === run.marker
  const lineage = processes.environment(pid)[LINEAGE_VARIABLE]
  return lineage === undefined || innermostCookie(lineage) === run.cookie
}
