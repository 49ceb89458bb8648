import type { Ask, Census, Neighbours, Seen, TreeRecord } from '../../decide/index.ts'
import { census, judge, judgePlace, spareReason, treeOf } from '../../decide/index.ts'
import type { Cgroups, CgroupView, Fact, Member, Place, Processes, ProcessId, ProcessTable, Served, Spared, Tree } from '../../model/index.ts'
import { isDead, sameProcess } from '../../model/index.ts'
import { bornAfter, type Lookable, type LookPorts, lookedAtSince, type Pass } from '../ports.ts'
import { sessionsInDaemons } from './harness-daemons.ts'
import { harnessOf, lookAtHarness } from './look-at-harness.ts'
import { neighbours } from './neighbours.ts'

export type Looked = Seen & { readonly harnessId: ProcessId | null }

/** Looks at many runs with as few passes as possible: single processes first, and all processes only where a harness is not alive. */
export async function lookAtAll(runs: readonly Lookable[], eyes: LookPorts): Promise<Map<string, Looked>> {
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

/**
 * Looks at all of them, and counts the members of those whose agent is alive, in one pass for all. Whoever is not in it is looked at by
 * itself, and those whose agent is not alive get passes of their own: what is over needs proof.
 */
export async function surveyAll(runs: readonly Lookable[], eyes: LookPorts): Promise<Surveyed> {
  const counted = new Map<string, Counted>()
  if (runs.length === 0) return { looked: new Map(), counted }
  const pass = await passFor(runs, eyes)
  const looked = await lookAtAll(runs, { ...eyes, processes: knowing(eyes.processes, pass.table) })
  for (const run of runs) {
    const seen = looked.get(run.id) as Looked
    if (seen.harness?.kind === 'alive') counted.set(run.id, asCounted(pass, censusIn(pass, run, seen, [], eyes)))
  }
  return { looked, counted }
}

export type Surveyed = { readonly looked: ReadonlyMap<string, Looked>; readonly counted: ReadonlyMap<string, Counted> }

/** The living of a table need not be looked at once more. */
function knowing(processes: Processes, table: ProcessTable): Processes {
  const living = new Map(table.rows.flatMap((row) => (isDead(row.state) ? [] : [[row.pid, row]])))
  return {
    ...processes,
    sample: (pid) => {
      const row = living.get(pid)
      return row === undefined ? processes.sample(pid) : { kind: 'seen', row }
    },
  }
}

export const lookAt = async (run: Lookable, eyes: LookPorts): Promise<Looked> => (await lookAtAll([run], eyes)).get(run.id) as Looked

/** The exit record is read last: a keeper seen gone has written all it ever will. */
function lookAtProcesses(run: Lookable, eyes: LookPorts): Looked {
  const { processes, evidence, fences, exitsZeroAfter } = eyes
  const at = (id: ProcessId): Fact => judge(processes, run.place, id)
  const keeper = run.keeper === null ? null : at(run.keeper)
  const { harnessId, harness } = lookAtHarness(run, keeper, eyes)
  if (harness?.kind === 'alive')
    return {
      harnessId,
      harness,
      keeper,
      launcher: { kind: 'gone', why: 'not looked at', waitStatus: null },
      tree: null,
      exit: evidence.exit(run.id),
      notStarted: null,
      intent: null,
    }
  const facts = { launcher: at(run.launcher), keeper }
  const exit = evidence.exit(run.id)
  const server = exit?.told === 'HUP' && run.tmux !== null ? evidence.server(run.id) : null
  return {
    harnessId,
    harness,
    ...facts,
    server: server && at(server),
    tree: null,
    exit,
    trouble: exit === null ? evidence.trouble(run.id) : null,
    zeroAfter: exitsZeroAfter(run),
    notStarted: evidence.notStarted(run.id),
    neverBegan: evidence.neverBegan(run.id),
    unrecordedKeeper: run.keeper === null && !run.adopted && harness !== null ? unrecordedKeeper(run, at, eyes) : null,
    intent: fences.intent(run.id),
  }
}

/** A row may have lost its keeper, to an older store say: the run's directory still names it. */
function unrecordedKeeper(run: Lookable, at: (id: ProcessId) => Fact, { runRecords }: LookPorts): Fact | null {
  const keeper = runRecords.read(run.id)?.keeper ?? null
  return keeper === null ? null : at(keeper)
}

/** Empty is believed after one pass where a cgroup says so, else only after two complete passes in a row. */
async function lookAtTrees(runs: readonly Lookable[], looked: ReadonlyMap<string, Looked>, eyes: LookPorts): Promise<Map<string, Tree>> {
  const { processes } = eyes
  const trees = new Map<string, Tree>()
  const emptySeen = new Set<string>()
  let local: Lookable[] = []
  for (const run of runs) {
    const elsewhere = judgePlace(processes.here(), run.place, processes.isNamespaceGone)
    if (elsewhere === null) local.push(run)
    else trees.set(run.id, elsewhere.kind === 'unknown' ? elsewhere : { kind: 'empty' })
  }
  for (let pass = 0; pass < PASSES && local.length > 0; pass++) {
    const seenNow = await passFor(local, eyes)
    const again: Lookable[] = []
    for (const run of local) {
      const { census: seen, contained, spared, served } = censusIn(seenNow, run, looked.get(run.id) as Looked, [], eyes)
      const tree = treeOf(seen, spared, served)
      trees.set(run.id, tree)
      const unsure = contained ? tree.kind === 'unknown' : tree.kind === 'empty' && !emptySeen.has(run.id)
      if (tree.kind === 'empty') emptySeen.add(run.id)
      if (unsure) again.push(run)
    }
    local = again
  }
  return trees
}
/** Two for proof; more only while somebody keeps appearing in a cgroup. */
const PASSES = 5

async function passFor(runs: readonly Lookable[], eyes: LookPorts, cookies = false): Promise<Pass> {
  const since = Math.min(...runs.map(lookedAtSince))
  const table = eyes.processes.table({ since, cookies: cookies || runs.some((run) => run.marker === null) })
  return { table, near: await neighbours(eyes) }
}

type Known = Pick<Looked, 'harnessId' | 'exit' | 'notStarted'>

const recordOf = (run: Lookable, { harnessId, exit, notStarted }: Known, { runRecords }: LookPorts): TreeRecord => ({
  id: run.id,
  marker: run.marker,
  cookie: run.cookie,
  keeper: run.keeper,
  harness: harnessId,
  beginning: exit === null && notStarted === null,
  adopted: run.adopted,
  detached: run.detached,
  born: run.adopted ? null : bornAfter(run),
  uid: () => runRecords.uid(run.id),
})

/** Who is of this run, in a table that was read before anything else is looked at here. */
function censusIn({ table, near }: Pass, run: Lookable, known: Known, seenBefore: readonly ProcessId[], eyes: LookPorts): RunCensus {
  const { evidence, cgroups } = eyes
  const path = evidence.cgroup(run.id)
  const view = path === null ? whoIsWhereItShouldBe(run, cgroups) : cgroups.view(path)
  const contained = view.kind === 'present' ? view.pids : null
  const record = { ...recordOf(run, known, eyes), contained, journal: evidence.journal(run.id), seen: seenBefore }
  const all = census(table, record, near)
  const daemons = sessionsInDaemons({ table, near }, run, known.exit?.at ?? null, all.members, eyes)
  const spared = [...sparedAmong(all.members, eyes), ...ofOtherHomes(all.members, run, near), ...daemons.spared].filter(
    ({ row }) => known.harnessId === null || !sameProcess(row, known.harnessId),
  )
  const { ours, leaked } = daemons
  const apart = [...spared.map(({ row }) => row), ...daemons.others]
  const seen = apart.length + ours.length === 0 ? all : census(table, { ...record, spared: apart, ours, leaked }, near)
  const unseen =
    view.kind === 'unreadable' ? view.why : view.kind === 'present' && view.hidden ? 'somebody of another pid namespace is in its cgroup' : null
  const { ask } = daemons
  const served = daemons.served.filter(({ processes }) => !processes.some((one) => seen.members.some(({ row }) => sameProcess(row, one))))
  return { census: { ...seen, blind: seen.blind ?? unseen ?? daemons.blind }, contained: contained !== null, spared, served, ask }
}

/** Nobody has said that it went into the cgroup that was made for it: whoever is there is of it, but that nobody is there says nothing. */
function whoIsWhereItShouldBe({ containment }: Lookable, cgroups: Cgroups): CgroupView {
  const view: CgroupView = containment.level === 'cgroup' ? cgroups.view(containment.path) : { kind: 'absent' }
  return view.kind === 'present' && view.pids.size > 0 ? view : { kind: 'absent' }
}

/** Whether pids on its record mean anything here. */
export const isHere = (run: { readonly place: Place }, { processes }: Pick<LookPorts, 'processes'>): boolean =>
  judgePlace(processes.here(), run.place, processes.isNamespaceGone) === null

type RunCensus = {
  readonly census: Census
  readonly contained: boolean
  readonly spared: readonly Spared[]
  /** What shared daemons work on for it without a process of its own. */
  readonly served: readonly Served[]
  /** The harness's own ways to end what is ours of its daemons. */
  readonly ask: readonly Ask[]
}

/**
 * An adopted agent may have started runs of another home before anybody here knew of it. No record of ours has their markers, and they are not ours to
 * end. They are told, since anybody can wear such a marker.
 */
const ofOtherHomes = (members: readonly Member[], { adopted, marker: own }: Lookable, { byMarker }: Neighbours): Spared[] =>
  members.flatMap(({ row }) => {
    const { marker = null } = row
    const isForeign = adopted && marker !== null && marker !== own && !byMarker.has(marker)
    return isForeign ? [{ row, why: 'it carries the marker of another Holdfast home' }] : []
  })

function sparedAmong(members: readonly Member[], { processes, spares }: LookPorts): Spared[] {
  const rules = spares()
  return members.flatMap(({ row }) => {
    const why = spareReason(row.name, () => processes.arguments(row.pid), rules)
    return why === null ? [] : [{ row, why }]
  })
}

/** Those who carry its marker, wherever it was started: no identity on its record is used. */
export async function markedAnywhere(run: Lookable, eyes: LookPorts): Promise<Census> {
  const table = eyes.processes.table({ since: 0, cookies: run.marker === null })
  const known = recordOf(run, { harnessId: null, exit: null, notStarted: null }, eyes)
  return census(table, { ...known, keeper: null, born: null, beginning: false }, await neighbours(eyes))
}

export type Counted = Census & Omit<RunCensus, 'census'> & Pass

/** One pass for one run. `seenBefore`: members that were seen before. */
export async function censusOf(run: Lookable, eyes: LookPorts, cookies: boolean, seenBefore: readonly ProcessId[] = []): Promise<Counted> {
  return count(await passFor([run], eyes, cookies), run, eyes, seenBefore)
}

/** One pass for many. */
export async function censusOfAll<R extends Lookable>(runs: readonly R[], eyes: LookPorts, cookies = false): Promise<[R, Counted][]> {
  if (runs.length === 0) return []
  const pass = await passFor(runs, eyes, cookies)
  return runs.map((run) => [run, count(pass, run, eyes, [])])
}

function count(pass: Pass, run: Lookable, eyes: LookPorts, seenBefore: readonly ProcessId[]): Counted {
  const { evidence } = eyes
  const known = { harnessId: harnessOf(run, evidence), exit: evidence.exit(run.id), notStarted: evidence.notStarted(run.id) }
  return asCounted(pass, censusIn(pass, run, known, seenBefore, eyes))
}

const asCounted = (pass: Pass, { census: seen, ...more }: RunCensus): Counted => ({ ...seen, ...more, ...pass })
