import type { DaemonFate, FoundDaemon } from '../../decide/index.ts'
import { nearestOf } from '../../decide/index.ts'
import type { Member, ProcessId, ProcessRow, Spared } from '../../model/index.ts'
import { sameProcess } from '../../model/index.ts'
import type { Lookable, LookPorts } from '../ports.ts'
import { harnessOf } from './look-at-harness.ts'

/**
 * What a shared daemon has started that tells its tools nothing, and that has lost it as its parent. It is in the cgroup of the run in which the
 * daemon was born, for whichever session it works. Only what works in a directory of the run's own is its own; the rest is spared, and named.
 */
export function straysOf(
  members: readonly Member[],
  run: Lookable,
  found: readonly FoundDaemon[],
  { spared, foreign }: Pick<DaemonFate, 'spared' | 'foreign'>,
  { evidence, harnessDaemonRules, processes }: LookPorts,
): Spared[] {
  const silent = found.filter(
    ({ born, harness, row }) =>
      born && (harnessDaemonRules.variables.get(harness) ?? null) === null && spared.some((one) => sameProcess(one.row, row)),
  )
  if (silent.length === 0) return []
  const served = silent.flatMap(({ what, harness, served: sessions }) =>
    (sessions ?? []).map(({ dir, nativeId }) => ({
      dir,
      what: `${what} started it for session ${nativeId ?? 'unknown'}`,
      isOurs: !foreign.some((native) => native.harness === harness && native.id === nativeId),
    })),
  )
  const places = [{ dir: run.dir, what: '', isOurs: true }, ...served]
  const rows = members.map(({ row }) => row)
  const isAway = rootedIn(rows, [harnessOf(run, evidence), ...silent.map(({ row }) => row)])
  const [first] = silent
  return rows.flatMap((row): Spared[] => {
    if (!isAway(row)) return []
    const near = nearestOf(processes.cwd(row.pid), places)
    if (near?.every(({ isOurs }) => isOurs)) return []
    const [one] = near ?? []
    const isCertain = near?.every(({ isOurs }) => !isOurs) === true
    return [{ row, why: isCertain && one !== undefined ? one.what : `${first?.what} may have started it for another session` }]
  })
}

const MAX_DEPTH = 1000

/** Answers of a row whether it is none of these processes, nor below one of them. */
function rootedIn(rows: readonly ProcessRow[], roots: readonly (ProcessId | null)[]): (row: ProcessRow) => boolean {
  const byPid = new Map(rows.map((row) => [row.pid, row]))
  return (row) => {
    for (let at: ProcessRow | undefined = row, depth = 0; at !== undefined && depth < MAX_DEPTH; at = byPid.get(at.parent), depth++) {
      const here = at
      if (roots.some((root) => root !== null && sameProcess(root, here))) return false
    }
    return true
  }
}
