import { judge } from '../../decide/index.ts'
import type { Fact, ProcessId, RunEvidence } from '../../model/index.ts'
import type { Lookable, LookPorts } from '../ports.ts'

/**
 * The agent is named by a file that it can write to itself. While its keeper lives, it is the keeper's child, or the file is wrong. After that it is at
 * least of the run's user, or carries the run's marker.
 */
export function lookAtHarness(
  run: Lookable,
  keeper: Fact | null,
  { processes, evidence, runRecords }: Pick<LookPorts, 'processes' | 'evidence' | 'runRecords'>,
): { readonly harnessId: ProcessId | null; readonly harness: Fact | null } {
  const named = harnessOf(run, evidence)
  if (named === null) return { harnessId: null, harness: null }
  const sample = processes.sample(named.pid)
  const harness = judge({ ...processes, sample: () => sample }, run.place, named)
  if (harness.kind !== 'alive' || run.adopted || sample.kind !== 'seen') return { harnessId: named, harness }
  const isWrong = keeper?.kind === 'alive' ? sample.row.parent !== run.keeper?.pid : keeper !== null && isOfOthers(sample.row.uid)
  return isWrong ? { harnessId: null, harness: null } : { harnessId: named, harness }

  function isOfOthers(uid: number): boolean {
    const own = runRecords.uid(run.id)
    return own !== null && own !== uid && (run.marker === null || processes.marker(named?.pid ?? 0) !== run.marker)
  }
}

/** One that was adopted is known from its record alone. */
export const harnessOf = (run: Lookable, evidence: RunEvidence): ProcessId | null => evidence.harness(run.id) ?? (run.adopted ? run.launcher : null)
