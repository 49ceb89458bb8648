import { judge } from '../../decide/index.ts'
import type { Fact, ProcessId, ProcessRow, RunEvidence } from '../../model/index.ts'
import { LINEAGE_VARIABLE } from '../../model/index.ts'
import { bornAfter, type Lookable, type LookPorts } from '../ports.ts'

/**
 * The agent is named by a file that it can write to itself. While its keeper lives, it is the keeper's child, or the file is wrong. Without a
 * keeper something else of the run must be on it.
 */
export function lookAtHarness(run: Lookable, keeper: Fact | null, eyes: LookPorts): { harness: Fact | null; harnessId: ProcessId | null } {
  const { processes, evidence } = eyes
  const named = harnessOf(run, evidence)
  if (named === null) return { harnessId: null, harness: null }
  const sample = processes.sample(named.pid)
  const harness = judge({ ...processes, sample: () => sample }, run.place, named)
  const isWrong = harness.kind === 'alive' && !run.adopted && sample.kind === 'seen' && !isCredible(run, sample.row, keeper, eyes)
  return isWrong ? { harnessId: null, harness: null } : { harnessId: named, harness }
}

function isCredible(run: Lookable, row: ProcessRow, keeper: Fact | null, { processes, evidence, cgroups }: LookPorts): boolean {
  if (row.ticks < bornAfter(run)) return false
  if (run.keeper === null || keeper === null) return true
  if (keeper.kind === 'alive') return row.parent === run.keeper.pid
  if (row.session === run.keeper.pid || (run.marker !== null && processes.marker(row.pid) === run.marker)) return true
  const cgroup = evidence.cgroup(run.id)
  if (cgroup?.endsWith(`/${cgroups.nameOf(row.pid)}`)) return true
  return (processes.environment(row.pid)[LINEAGE_VARIABLE] ?? '').split(':').includes(run.cookie)
}

/** One that was adopted is known from its record alone. */
export const harnessOf = (run: Lookable, evidence: RunEvidence): ProcessId | null => evidence.harness(run.id) ?? (run.adopted ? run.launcher : null)
