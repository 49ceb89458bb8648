import { judge } from '../../decide/index.ts'
import type { Fact, ProcessId, ProcessRow, RunEvidence } from '../../model/index.ts'
import { LINEAGE_VARIABLE } from '../../model/index.ts'
import { bornAfter, type Lookable, type LookPorts } from '../ports.ts'

type SeenHarness = { readonly harness: Fact | null; readonly harnessId: ProcessId | null }

/**
 * The agent is named by a file that it can write to itself. While its keeper lives, it is the keeper's child, or the file is wrong. Without a keeper
 * something else of the run must be on it, where the run could be given a marker.
 */
export function lookAtHarness(run: Lookable, keeper: Fact | null, eyes: LookPorts): SeenHarness {
  const { processes, evidence } = eyes
  const named = harnessOf(run, evidence)
  if (named === null) return { harnessId: null, harness: null }
  const sample = processes.sample(named.pid)
  const harness = judge({ ...processes, sample: () => sample }, run.place, named)
  if (harness.kind !== 'alive' || run.adopted || sample.kind !== 'seen' || run.keeper === null || keeper === null)
    return { harnessId: named, harness }
  const isChild = sample.row.parent === run.keeper.pid
  if (named.ticks < bornAfter(run) || (keeper.kind === 'alive' && !isChild)) return { harnessId: null, harness: null }
  return keeper.kind === 'alive' || isMarked(run, sample.row, eyes) ? { harnessId: named, harness } : { harnessId: null, harness: null }
}

function isMarked(run: Lookable, row: ProcessRow, { processes, evidence, cgroups }: LookPorts): boolean {
  if (run.marker === null || row.session === run.keeper?.pid || processes.marker(row.pid) === run.marker) return true
  if (evidence.cgroup(run.id)?.endsWith(`/${cgroups.nameOf(row.pid)}`) === true) return true
  return (processes.environment(row.pid)[LINEAGE_VARIABLE] ?? '').split(':').includes(run.cookie)
}

/** One that was adopted is known from its record alone. */
export const harnessOf = (run: Lookable, evidence: RunEvidence): ProcessId | null => evidence.harness(run.id) ?? (run.adopted ? run.launcher : null)
