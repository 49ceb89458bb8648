import type { Member, ProcessId, ProcessRow, ProcessTable, Proof, RunRoot, Served, Spared, Tree } from '../model/index.ts'
import { sameProcess } from '../model/index.ts'
import { isNestedIn, isServerOfOthers, isUnrelated, type Neighbours, rootAt } from './neighbours.ts'
import { type Index, indexOf } from './process-index.ts'
import { credibleHarness, isInherited, type TreeRecord } from './tree-record.ts'

export type Census = {
  readonly members: readonly Member[]
  /** In its cgroup, but not of it: they must not be hit when all of it is. */
  readonly strangers: readonly ProcessRow[]
  /** They carry its marker, but that alone proves nothing, and something speaks against them. */
  readonly doubtful: readonly Doubtful[]
  readonly blind: string | null
  /** Not of it by proof: of its keeper, of another run, or spared. */
  readonly isOutside: (row: ProcessRow) => boolean
  /** The other run in whose cgroup it is, where nothing else puts it outside. */
  readonly isOnlyInCgroupOf: (row: ProcessRow) => string | null
}

/** `why`: what speaks against it. */
export type Doubtful = { readonly row: ProcessRow; readonly why: string }

/**
 * Who belongs to a run, by proof. The kernel's word comes first: its cgroup, and descent from its agent. Another run has a process only if it
 * proves that from its own side: it descends from that run's keeper, or is in that run's cgroup. Anybody can wear a marker, so a marker
 * takes nobody out of a run, and brings nobody in whom another run, another user or another secret speaks for.
 */
export function census(table: ProcessTable, recorded: TreeRecord, near: Neighbours): Census {
  const index = indexOf(table)
  const run = { ...recorded, harness: credibleHarness(recorded, index.byPid, near) }
  const judge = judging(run, index, near)
  const members = new Map<number, Member>()
  const doubtful: Doubtful[] = []
  const fresh: ProcessRow[] = []
  const take = (row: ProcessRow, proof: Proof | null): void => {
    if (proof === null || members.has(row.pid) || judge.isOutside(row)) return
    members.set(row.pid, { row, proof })
    fresh.push(row)
  }
  for (const row of candidates(run, index)) {
    const proof = judge.ownProof(row)
    const doubt = proof === 'marker' ? judge.doubt(row) : null
    if (doubt === null) take(row, proof)
    else if (!doubtful.some((known) => known.row === row)) doubtful.push({ row, why: doubt })
  }
  // Descendants of a member, and the session that it leads. A child is never older than its parent: an older one only met a pid that was
  // used again.
  for (let leaders: ProcessId[] = ledBefore(run, index); fresh.length + leaders.length > 0; ) {
    const parent = fresh.pop()
    if (parent !== undefined) {
      for (const row of index.byParent.get(parent.pid) ?? []) if (row.ticks >= parent.ticks) take(row, 'descendant')
      if (parent.session === parent.pid) leaders.push(parent)
      continue
    }
    for (const leader of leaders) for (const row of index.bySession.get(leader.pid) ?? []) if (row.ticks >= leader.ticks) take(row, 'session')
    leaders = []
  }
  const inside = [...(run.contained ?? [])].flatMap((pid) => index.byPid.get(pid) ?? [])
  return {
    members: [...members.values()].toSorted((one, other) => index.order(one.row) - index.order(other.row)),
    strangers: inside.filter(judge.isOutside),
    doubtful: doubtful.filter(({ row }) => !members.has(row.pid)),
    blind: blindness(table, index, run, inside.length),
    isOutside: judge.isOutside,
    isOnlyInCgroupOf: judge.isOnlyInCgroupOf,
  }
}

/** Who may have a proof of its own; a run is looked for among these, and not among all. */
function* candidates(run: TreeRecord, { byPid, byMarker, byCookie, byParent }: Index): Generator<ProcessRow> {
  const known = [...(run.harness === null ? [] : [run.harness]), ...(run.journal ?? []), ...(run.ours ?? [])]
  const pids = [...(run.contained ?? []), ...known.map(({ pid }) => pid)]
  for (const pid of pids) {
    const row = byPid.get(pid)
    if (row !== undefined) yield row
  }
  yield* (run.marker === null ? byCookie.get(run.cookie) : byMarker.get(run.marker)) ?? []
  yield* (run.keeper === null ? undefined : byParent.get(run.keeper.pid)) ?? []
}

/**
 * Leaders, perhaps dead, of sessions that only the run has: the number of a session is not given again while the session has members. The session
 * of a keeper is the run's from the agent on; without a marker nothing tells the keeper's helpers from the rest.
 */
function ledBefore({ keeper, harness, journal = [], marker, born }: TreeRecord, { byPid }: Index): ProcessId[] {
  const ofKeeper = keeper === null || harness === null || marker === null ? [] : [{ pid: keeper.pid, ticks: Math.max(keeper.ticks, harness.ticks) }]
  const isStill = ({ pid, ticks }: ProcessId): boolean => (byPid.get(pid)?.ticks ?? ticks) === ticks && ticks >= (born ?? ticks)
  return [
    ...ofKeeper.filter(() => keeper !== null && (byPid.get(keeper.pid)?.ticks ?? keeper.ticks) === keeper.ticks),
    ...[...(harness === null ? [] : [harness]), ...journal].filter(isStill),
  ]
}

/** One census says this of the tree. Without a cgroup, emptiness needs two of these in a row. */
export function treeOf(seen: Census, spared: readonly Spared[] = [], served: readonly Served[] = []): Tree {
  if (served.length > 0) return { kind: 'members', members: seen.members, served }
  if (seen.members.length > 0) return { kind: 'members', members: seen.members }
  if (seen.blind !== null) return { kind: 'unknown', why: seen.blind }
  return spared.length === 0 ? { kind: 'empty' } : { kind: 'empty', spared }
}

/** Nearest above a process: our agent, one that a shared daemon lends to us, our keeper with what it started for itself, or another run. */
type Descent = { readonly kind: 'ours' | 'lent' | 'keeping' | 'none' } | { readonly kind: 'theirs'; readonly whose: RunRoot | null }

type Judge = {
  readonly isOutside: Census['isOutside']
  readonly isOnlyInCgroupOf: Census['isOnlyInCgroupOf']
  readonly ownProof: (row: ProcessRow) => Proof | null
  /** Why its marker is not believed; null: it is. */
  readonly doubt: (row: ProcessRow) => string | null
}

function judging(run: TreeRecord, index: Index, near: Neighbours): Judge {
  const { byPid, rows } = index
  const { harness } = run
  const ours = new Set((run.ours ?? []).flatMap(({ pid, ticks }) => (byPid.get(pid)?.ticks === ticks ? [pid] : [])))
  const spared = withDescendants(run.spared ?? [], rows, ours)
  const isAgentThere = harness !== null && byPid.get(harness.pid)?.ticks === harness.ticks
  const isHarness = (row: ProcessRow): boolean => harness !== null && sameProcess(harness, row)
  const isKeeper = (row: ProcessRow): boolean => run.keeper !== null && sameProcess(run.keeper, row)
  const isHelper = (row: ProcessRow): boolean => near.helper !== null && sameProcess(near.helper, row)
  const isContained = (row: ProcessRow): boolean => run.contained?.has(row.pid) === true
  // Unless its agent has moved the keeper there, too: then helpers are born in it.
  const isInAgentsCgroup = (row: ProcessRow): boolean => isContained(row) && (run.keeper === null || run.contained?.has(run.keeper.pid) !== true)
  const descents = new Map<number, Descent>()
  const descentOf = (row: ProcessRow): Descent => {
    const known = descents.get(row.pid) ?? descent(row)
    descents.set(row.pid, known)
    return known
  }
  const descent = (first: ProcessRow): Descent => {
    // No chain of parents is longer than the table; one that is made up might go in a circle.
    for (let row = first, child: ProcessRow | null = null, steps = 0; steps < rows.length; steps++) {
      // Another run's own process first: files that an agent can write to may name it as ours.
      const whose = rootAt(row, run.id, near)
      if (whose !== null) return { kind: 'theirs', whose }
      if (isServerOfOthers(row, run.id, near, byPid) || isHelper(row)) return { kind: 'theirs', whose: null }
      if (isKeeper(row))
        return { kind: child !== null && isInherited(child, row, run, isAgentThere || !run.beginning ? null : near.secrets) ? 'ours' : 'keeping' }
      if (ours.has(row.pid)) return { kind: 'lent' }
      if (isHarness(row)) return { kind: 'ours' }
      const parent = byPid.get(row.parent)
      if (parent === undefined || parent.ticks > row.ticks) return { kind: 'none' }
      child = row
      row = parent
    }
    return { kind: 'none' }
  }
  /** A run that was started in ours, and whose marker and secret it has: it only came to us when its own keeper or parents were gone. */
  const isOfNested = (row: ProcessRow): boolean => {
    const marked = run.marker === null ? near.byCookie.get(row.cookie ?? '') : near.byMarker.get(row.marker ?? Number.NaN)
    if (marked === undefined || isContained(row) || isHarness(row) || !isNestedIn(marked.id, run.id, near)) return false
    return run.leaked?.has(row.marker ?? Number.NaN) !== true && near.secrets(row.pid).at(-1) === marked.cookie
  }
  const cgroupOfOther = (row: ProcessRow): string | null => {
    if (isContained(row)) return null
    const other = near.cgroupRun(row.pid)
    return other !== null && near.runs.has(other) && isUnrelated(other, run.id, near) ? other : null
  }
  const isOutside = (row: ProcessRow): boolean => {
    if (spared.has(row.pid)) return true
    const by = descentOf(row)
    // A file that an agent can write to may name it, and an agent can move it into its cgroup: yet it was there before the run.
    if (by.kind !== 'lent' && row.ticks < (run.born ?? row.ticks)) return true
    // What has our own marker, or is in our cgroup, is no helper, wherever it was started.
    if (by.kind === 'keeping') return isKeeper(row) || run.marker === null || (row.marker !== run.marker && !isInAgentsCgroup(row))
    // One of a run in ours may have lost its parents to a process above both.
    if (by.kind === 'theirs') return !isStrayOf(row, by.whose)
    // Below our agent, another run's cgroup is only where it went. A shared daemon's is where that was first started.
    return isOfNested(row) || (by.kind === 'none' && cgroupOfOther(row) !== null)
  }
  const isStrayOf = (row: ProcessRow, whose: RunRoot | null): boolean =>
    whose !== null && isNestedIn(run.id, whose.id, near) && row.marker === run.marker && near.secrets(row.pid).at(-1) === run.cookie
  return {
    isOutside,
    isOnlyInCgroupOf: (row) => (spared.has(row.pid) || descentOf(row).kind !== 'none' || isOfNested(row) ? null : cgroupOfOther(row)),
    doubt: (row) => {
      if (descentOf(row).kind !== 'none' || run.journal?.some((known) => sameProcess(known, row)) === true) return null
      const uid = run.uid?.() ?? null
      if (uid !== null && row.uid !== uid) return `belongs to another user (uid ${row.uid})`
      const cgroup = cgroupOfOther(row)
      if (cgroup !== null) return `is in the cgroup of run ${cgroup}`
      const secrets = run.adopted === true ? [] : near.secrets(row.pid)
      return secrets.length === 0 || secrets.includes(run.cookie) ? null : 'has the secret of another run'
    },
    ownProof: (row) => {
      if (isContained(row)) return 'cgroup'
      if (run.marker !== null && row.marker === run.marker) return 'marker'
      if (run.marker === null && row.cookie === run.cookie) return 'cookie'
      if (isHarness(row)) return 'recorded'
      if (run.journal?.some((known) => sameProcess(known, row)) === true) return 'journal'
      if (ours.has(row.pid)) return 'harness-id'
      return descentOf(row).kind === 'ours' ? 'descendant' : null
    },
  }
}

/** A cgroup knows who is in it, whatever else could not be read; but everybody in it must have been looked at. */
function blindness(table: ProcessTable, { dark }: Index, run: TreeRecord, inside: number): string | null {
  if (run.contained) return inside === run.contained.size ? null : 'somebody has just appeared in its cgroup'
  if (table.blind !== null) return table.blind
  return dark === undefined ? null : `pid ${dark.pid} (${dark.name}) could not be read: ${dark.unreadable}`
}

const NOBODY: ReadonlySet<number> = new Set()

function withDescendants(roots: readonly ProcessId[], rows: readonly ProcessRow[], except: ReadonlySet<number>): ReadonlySet<number> {
  if (roots.length === 0) return NOBODY
  const found = new Map(rows.filter((row) => roots.some((root) => sameProcess(root, row))).map((row) => [row.pid, row]))
  for (let before = -1; before !== found.size && found.size > 0; ) {
    before = found.size
    for (const row of rows) {
      const parent = found.get(row.parent)
      if (parent !== undefined && row.ticks >= parent.ticks && !except.has(row.pid)) found.set(row.pid, row)
    }
  }
  return new Set(found.keys())
}
