import type { ProcessId, ProcessRow, Proof, RunRoot } from '../model/index.ts'
import { sameProcess } from '../model/index.ts'
import { isNestedIn, isServerOfOthers, isUnrelated, type Neighbours, rootAt } from './neighbours.ts'
import type { Index } from './process-index.ts'
import { isInherited, isOfOtherUser, type TreeRecord } from './tree-record.ts'

/** Nearest above a process: our agent, one that a shared daemon lends to us, our keeper with what it started for itself, or another run. */
type Descent = { readonly kind: 'ours' | 'lent' | 'keeping' | 'none' } | { readonly kind: 'theirs'; readonly whose: RunRoot | null }

type Judge = {
  readonly isOutside: (row: ProcessRow) => boolean
  /** The other run in whose cgroup it is, where nothing else says that it is that run's. */
  readonly isOnlyInCgroupOf: (row: ProcessRow) => string | null
  readonly ownProof: (row: ProcessRow) => Proof | null
  /** Why its marker is not believed; null: it is. */
  readonly doubt: (row: ProcessRow) => string | null
}

export function judging(run: TreeRecord, index: Index, near: Neighbours): Judge {
  const { byPid, rows } = index
  const ours = new Set((run.ours ?? []).flatMap(({ pid, ticks }) => (byPid.get(pid)?.ticks === ticks ? [pid] : [])))
  const spared = withDescendants(run.spared ?? [], rows, ours)
  const isAgentThere = run.harness !== null && byPid.get(run.harness.pid)?.ticks === run.harness.ticks
  const isHarness = (row: ProcessRow): boolean => run.harness !== null && sameProcess(run.harness, row)
  const isKeeper = (row: ProcessRow): boolean => run.keeper !== null && sameProcess(run.keeper, row)
  const isHelper = (row: ProcessRow): boolean => near.helper !== null && sameProcess(near.helper, row)
  const wasSeen = (row: ProcessRow): boolean => run.seen?.some((known) => sameProcess(known, row)) === true
  const isContained = (row: ProcessRow): boolean => run.contained?.has(row.pid) === true
  // Unless its agent has moved the keeper there, too: then helpers are born in it.
  const isInAgentsCgroup = (row: ProcessRow): boolean => isContained(row) && (run.keeper === null || run.contained?.has(run.keeper.pid) !== true)
  // It leaves the cgroup of a run that it is started in: one inside only says that it is the daemon.
  const isDaemon = (row: ProcessRow): boolean => {
    const daemon = near.daemon()
    return daemon !== null && sameProcess(daemon, row) && !isContained(row)
  }
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
      if (isHelper(row) || isDaemon(row)) return { kind: 'theirs', whose: null }
      if (isKeeper(row))
        return { kind: child !== null && isInherited(child, row, run, isAgentThere || !run.beginning ? null : near.secrets) ? 'ours' : 'keeping' }
      if (ours.has(row.pid)) return { kind: 'lent' }
      if (isHarness(row)) return { kind: 'ours' }
      if (isServerOfOthers(row, run.id, near, byPid)) return { kind: 'theirs', whose: null }
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
      if (descentOf(row).kind !== 'none' || wasSeen(row)) return null
      const cgroup = cgroupOfOther(row)
      if (cgroup !== null) return `is in the cgroup of run ${cgroup}`
      const secrets = run.adopted === true ? [] : near.secrets(row.pid)
      if (secrets.includes(run.cookie)) return null
      if (secrets.length > 0) return 'has the secret of another run'
      return isOfOtherUser(row, run) ? `belongs to another user (uid ${row.uid})` : null
    },
    ownProof: (row) => {
      if (isContained(row)) return 'cgroup'
      if (run.marker !== null && row.marker === run.marker) return 'marker'
      if (run.marker === null && row.cookie === run.cookie) return 'cookie'
      if (isHarness(row)) return 'recorded'
      if (wasSeen(row)) return 'journal'
      // Files that the agent can write to name no process of another user.
      if (run.journal?.some((known) => sameProcess(known, row)) === true && !isOfOtherUser(row, run)) return 'journal'
      if (ours.has(row.pid)) return 'harness-id'
      return descentOf(row).kind === 'ours' ? 'descendant' : null
    },
  }
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
