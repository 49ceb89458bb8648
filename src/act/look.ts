import type { Census, Seen, TreeRecord } from '../decide/index.ts'
import { census, judge, judgePlace, treeOf } from '../decide/index.ts'
import type { Fact, LiveRun, Processes, ProcessId, ProcessTable, RunFiles, RunRecord, Tree } from '../model/index.ts'

export type Eyes = {
  readonly processes: Processes
  readonly files: RunFiles
  /** The markers of all live runs on record. */
  readonly others: () => Promise<ReadonlySet<number>>
}
/** A run as far as looking goes: from the store, or from its directory alone. */
export type Lookable = LiveRun | RunRecord
export type Looked = Seen & { readonly harnessId: ProcessId | null }

/** Looks at many runs with as few passes as possible: single processes first, and all processes only where a harness is not alive. */
export async function lookAtAll(runs: readonly Lookable[], eyes: Eyes): Promise<Map<string, Looked>> {
  const looked = new Map<string, Looked>()
  const needTree: Lookable[] = []
  for (const run of runs) {
    const single = lookAtProcesses(run, eyes)
    looked.set(run.id, single)
    if (single.harness?.kind !== 'alive') needTree.push(run)
  }
  const trees = await lookAtTrees(needTree, looked, eyes)
  for (const [id, tree] of trees) looked.set(id, { ...(looked.get(id) as Looked), tree })
  return looked
}

export const lookAt = async (run: Lookable, eyes: Eyes): Promise<Looked> => (await lookAtAll([run], eyes)).get(run.id) as Looked

/** The exit record is read last: a keeper seen gone has written all it ever will. */
function lookAtProcesses(run: Lookable, { processes, files }: Eyes): Looked {
  const at = (id: ProcessId): Fact => judge(processes.here(), run.place, id, processes.sample)
  const harnessId = files.harness(run.id)
  const harness = harnessId === null ? null : at(harnessId)
  if (harness?.kind === 'alive')
    return {
      harnessId,
      harness,
      keeper: run.keeper && at(run.keeper),
      launcher: { kind: 'gone', why: 'not looked at', waitStatus: null },
      tree: null,
      exit: files.exit(run.id),
      notStarted: null,
      intent: null,
    }
  return {
    harnessId,
    harness,
    launcher: at(run.launcher),
    keeper: run.keeper === null ? null : at(run.keeper),
    tree: null,
    exit: files.exit(run.id),
    notStarted: files.notStarted(run.id),
    intent: files.intent(run.id),
  }
}

/** Empty is believed only after two complete passes in a row. */
async function lookAtTrees(runs: readonly Lookable[], looked: ReadonlyMap<string, Looked>, { processes, others }: Eyes): Promise<Map<string, Tree>> {
  const trees = new Map<string, Tree>()
  let local: Lookable[] = []
  for (const run of runs) {
    const elsewhere = judgePlace(processes.here(), run.place)
    if (elsewhere === null) local.push(run)
    else trees.set(run.id, elsewhere.kind === 'unknown' ? elsewhere : { kind: 'empty' })
  }
  for (let pass = 0; pass < 2 && local.length > 0; pass++) {
    const table = passFor(local, processes)
    // After the pass: whoever claimed before we ask is known as another run.
    const known = await others()
    for (const run of local) trees.set(run.id, treeOf(census(table, recordOf(run, looked.get(run.id) as Looked), known)))
    local = local.filter((run) => trees.get(run.id)?.kind === 'empty')
  }
  return trees
}

function passFor(runs: readonly Lookable[], processes: Processes): ProcessTable {
  const since = Math.min(...runs.map(bornAfter))
  return processes.table({ since, cookies: runs.some((run) => run.marker === null) })
}

/** Nothing of a run is older than its keeper (or, before there is one, than its launcher). */
const bornAfter = (run: Lookable): number => (run.keeper ?? run.launcher).ticks

const recordOf = (run: Lookable, { harnessId, exit, notStarted }: Pick<Looked, 'harnessId' | 'exit' | 'notStarted'>): TreeRecord => ({
  marker: run.marker,
  cookie: run.cookie,
  keeper: run.keeper,
  harness: harnessId,
  beginning: exit === null && notStarted === null,
})

/** One pass for one run, with suspects. `journal`: members that were seen before. */
export async function censusOf(run: Lookable, eyes: Eyes, cookies: boolean, journal: readonly ProcessId[] = []): Promise<Census> {
  const table = eyes.processes.table({ since: bornAfter(run), cookies: cookies || run.marker === null })
  const { files } = eyes
  const seen = { harnessId: files.harness(run.id), exit: files.exit(run.id), notStarted: files.notStarted(run.id) }
  return census(table, { ...recordOf(run, seen), journal }, await eyes.others())
}
