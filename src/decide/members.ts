import type { Member, ProcessId, ProcessRow, ProcessTable, Proof, Served, Spared, Tree } from '../model/index.ts'
import { isHelperMarker, sameProcess } from '../model/index.ts'
import { type Index, indexOf } from './process-index.ts'

/** What of a run's record decides membership. */
export type TreeRecord = {
  readonly marker: number | null
  readonly cookie: string
  readonly keeper: ProcessId | null
  readonly harness: ProcessId | null
  /** Its keeper has not yet seen the end of what it started. */
  readonly beginning: boolean
  /** Members seen earlier: one that was known by its parent is still known when the parent is gone. */
  readonly journal?: readonly ProcessId[]
  /** Who is in its cgroup, read after the table: so a pid with a new tenant is never taken for the old one. */
  readonly contained?: ReadonlySet<number> | null
  /** Born inside, but not ours to end; nor is what they started. */
  readonly spared?: readonly ProcessId[]
  /** It was adopted: whoever carries any other marker was started by another Holdfast, even one that we have no record of. */
  readonly adopted?: boolean
  /** Those that its harness says are of it: lent by a shared daemon, or named by its session's id. A spared one may have started them. */
  readonly ours?: readonly ProcessId[]
  /** Markers of others that came to them through a shared daemon, and say nothing about them and what they start. */
  readonly leaked?: ReadonlySet<number>
}

export type Census = {
  readonly members: readonly Member[]
  /** In its cgroup, but not of it: they must not be hit when all of it is. */
  readonly strangers: readonly ProcessRow[]
  readonly blind: string | null
}

/**
 * Who belongs to a run, by proof. The innermost marker decides: a process with the marker of another run on record (`others`), or of
 * a helper, is not ours, nor are its descendants; only for those that live in a harness's shared daemon the harness's word decides
 * over a marker that came to them through it. The keeper is known by identity and is no member.
 */
export function census(table: ProcessTable, run: TreeRecord, others: ReadonlySet<number>): Census {
  const index = indexOf(table)
  const ours = new Set((run.ours ?? []).flatMap(({ pid, ticks }) => (index.byPid.get(pid)?.ticks === ticks ? [pid] : [])))
  const spared = withDescendants(run.spared ?? [], index.rows, ours)
  const trusted = new Set(ours)
  const outside = (row: ProcessRow): boolean =>
    spared.has(row.pid) || (isForeign(row, run, others) && !trusted.has(row.pid)) || isKeeping(row, run, index.byPid)
  const members = new Map<number, Member>()
  const fresh: ProcessRow[] = []
  const take = (row: ProcessRow, proof: Proof | null, from?: ProcessRow): void => {
    if (from !== undefined && trusted.has(from.pid) && row.marker && run.leaked?.has(row.marker) === true) trusted.add(row.pid)
    if (proof === null || members.has(row.pid) || outside(row)) return
    members.set(row.pid, { row, proof })
    fresh.push(row)
  }
  for (const row of candidates(run, index)) take(row, ownProof(row, run, index.byPid) ?? (ours.has(row.pid) ? 'harness-id' : null))
  // What a member started, and who is in the session that it leads. A child is never older than its parent: an older one only met a pid
  // that was used again.
  for (let leaders: ProcessRow[] = []; fresh.length + leaders.length > 0; ) {
    const parent = fresh.pop()
    if (parent !== undefined) {
      for (const row of index.byParent.get(parent.pid) ?? []) if (row.ticks >= parent.ticks) take(row, 'descendant', parent)
      if (parent.session === parent.pid) leaders.push(parent)
      continue
    }
    for (const leader of leaders) for (const row of index.bySession.get(leader.pid) ?? []) if (row.ticks >= leader.ticks) take(row, 'session', leader)
    leaders = []
  }
  const inside = [...(run.contained ?? [])].flatMap((pid) => index.byPid.get(pid) ?? [])
  return {
    members: [...members.values()].toSorted((one, other) => index.order(one.row) - index.order(other.row)),
    strangers: inside.filter(outside),
    blind: blindness(table, index, run, inside.length),
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

/** What one census says of the tree. Without a cgroup, emptiness needs two of these in a row. */
export function treeOf(seen: Census, spared: readonly Spared[] = [], served: readonly Served[] = []): Tree {
  if (served.length > 0) return { kind: 'members', members: seen.members, served }
  if (seen.members.length > 0) return { kind: 'members', members: seen.members }
  if (seen.blind !== null) return { kind: 'unknown', why: seen.blind }
  return spared.length === 0 ? { kind: 'empty' } : { kind: 'empty', spared }
}

function ownProof(row: ProcessRow, run: TreeRecord, byPid: ReadonlyMap<number, ProcessRow>): Proof | null {
  if (run.contained?.has(row.pid) === true) return 'cgroup'
  if (run.marker !== null && row.marker === run.marker) return 'marker'
  if (run.marker === null && row.cookie === run.cookie) return 'cookie'
  if (run.harness !== null && row.pid === run.harness.pid && row.ticks === run.harness.ticks) return 'recorded'
  if (run.journal?.some((known) => known.pid === row.pid && known.ticks === row.ticks) === true) return 'journal'
  // Before the stub has written who it is, it is known only as the keeper's child.
  if (run.harness === null && run.beginning && isChildOf(row, run.keeper, byPid)) return 'descendant'
  return null
}

/** Of another run: by its marker or, where this run could not be given one, by its cookie. */
function isForeign({ marker = null, cookie = null }: ProcessRow, run: TreeRecord, others: ReadonlySet<number>): boolean {
  if (marker !== null && marker !== run.marker && (run.adopted === true || isHelperMarker(marker) || others.has(marker))) return true
  return run.marker === null && marker === null && cookie !== null && cookie !== run.cookie
}

/**
 * The keeper itself, and what it started for itself. With a marker its helpers are known by theirs, so that orphans which a keeper
 * inherits as init of a container are not taken for helpers; without one, every child but the harness is a helper.
 */
function isKeeping(row: ProcessRow, run: TreeRecord, byPid: ReadonlyMap<number, ProcessRow>): boolean {
  const { keeper, harness } = run
  if (keeper === null) return false
  if (row.pid === keeper.pid && row.ticks === keeper.ticks) return true
  return run.marker === null && harness !== null && row.pid !== harness.pid && isChildOf(row, keeper, byPid)
}

/** A child of that very process, and not of a new tenant of its pid. */
const isChildOf = (row: ProcessRow, parent: ProcessId | null, byPid: ReadonlyMap<number, ProcessRow>): boolean =>
  parent !== null && row.parent === parent.pid && row.ticks >= parent.ticks && byPid.get(parent.pid)?.ticks === parent.ticks

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
