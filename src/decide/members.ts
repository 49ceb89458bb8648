import type { Member, ProcessId, ProcessRow, ProcessTable, Proof, Served, Spared, Tree } from '../model/index.ts'
import { sameProcess } from '../model/index.ts'
import { judging } from './membership.ts'
import type { Neighbours } from './neighbours.ts'
import { type Index, indexOf } from './process-index.ts'
import { credibleHarness, type TreeRecord } from './tree-record.ts'

export type Census = {
  readonly members: readonly Member[]
  /** In its cgroup, but not of it: they must not be hit when all of it is. */
  readonly strangers: readonly ProcessRow[]
  /** They carry its marker, but that alone proves nothing, and something speaks against them. */
  readonly doubtful: readonly Doubtful[]
  readonly blind: string | null
  /** Not of it by proof: of its keeper, of another run, or spared. */
  readonly isOutside: (row: ProcessRow) => boolean
  /** The other run in whose cgroup it is, where nothing else says that it is that run's. */
  readonly isOnlyInCgroupOf: (row: ProcessRow) => string | null
}

/** `why`: what speaks against it. */
export type Doubtful = { readonly row: ProcessRow; readonly why: string }

/**
 * Who belongs to a run, by proof. The kernel's word comes first: its cgroup, and descent from its agent. Another run has a process only if it
 * proves that from its own side: it descends from that run's keeper, or is in that run's cgroup. Anybody can wear a marker, so a marker
 * takes nobody out of a run, and brings nobody in whom another run, another user or another secret speaks for.
 */
export function census(table: ProcessTable, record: TreeRecord, near: Neighbours): Census {
  const index = indexOf(table)
  const run = { ...record, harness: credibleHarness(record, index.byPid, near) }
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
  for (const { session, since, sure } of sessionsOf(run, index))
    for (const row of index.bySession.get(session) ?? [])
      if (row.ticks >= since) take(row, sure ? 'session' : near.secrets(row.pid).includes(run.cookie) ? 'cookie' : null)
  // Descendants of a member, and the session that it leads. A child is never older than its parent: an older one only met a pid that was
  // used again.
  for (let leaders: ProcessId[] = []; fresh.length + leaders.length > 0; ) {
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
  const known = [...(run.harness === null ? [] : [run.harness]), ...(run.journal ?? []), ...(run.seen ?? []), ...(run.ours ?? [])]
  const pids = [...(run.contained ?? []), ...known.map(({ pid }) => pid)]
  for (const pid of pids) {
    const row = byPid.get(pid)
    if (row !== undefined) yield row
  }
  yield* (run.marker === null ? byCookie.get(run.cookie) : byMarker.get(run.marker)) ?? []
  yield* (run.keeper === null ? undefined : byParent.get(run.keeper.pid)) ?? []
}

/**
 * Process sessions that were begun by one of the run who may be gone by now. `sure`: the session is still the one of then: we made the keeper its
 * leader and the agent is in it, or one known by identity is. The number of a session is not given again while it has members. In any other
 * session by such a number, only the secret of the run tells its own from strangers.
 */
function* sessionsOf(
  { keeper, harness, journal = [], seen = [], marker, detached, born }: TreeRecord,
  { byPid, bySession }: Index,
): Generator<Begun> {
  const known = [...(harness === null ? [] : [harness]), ...journal, ...seen].filter(({ ticks }) => ticks >= (born ?? ticks))
  const isKnown = (row: ProcessRow): boolean => known.some((one) => sameProcess(one, row))
  const hasKnown = (session: number): boolean => (bySession.get(session) ?? []).some(isKnown)
  // Without a marker nothing tells the keeper's helpers from the rest.
  if (keeper !== null && harness !== null && marker !== null)
    yield { session: keeper.pid, since: Math.max(keeper.ticks, harness.ticks), sure: detached === true && hasKnown(keeper.pid) }
  for (const { pid, ticks } of known) if (!byPid.has(pid) && bySession.has(pid)) yield { session: pid, since: ticks, sure: hasKnown(pid) }
}
type Begun = { readonly session: number; readonly since: number; readonly sure: boolean }

/** One census says this of the tree. Without a cgroup, emptiness needs two of these in a row. */
export function treeOf(seen: Census, spared: readonly Spared[] = [], served: readonly Served[] = []): Tree {
  if (served.length > 0) return { kind: 'members', members: seen.members, served }
  if (seen.members.length > 0) return { kind: 'members', members: seen.members }
  if (seen.blind !== null) return { kind: 'unknown', why: seen.blind }
  return spared.length === 0 ? { kind: 'empty' } : { kind: 'empty', spared }
}

/** A cgroup knows who is in it, whatever else could not be read; but everybody in it must have been looked at. */
function blindness(table: ProcessTable, { dark }: Index, run: TreeRecord, inside: number): string | null {
  if (run.contained) return inside === run.contained.size ? null : 'somebody has just appeared in its cgroup'
  if (table.blind !== null) return table.blind
  return dark === undefined ? null : `pid ${dark.pid} (${dark.name}) could not be read: ${dark.unreadable}`
}
