import type { ProcessId, ProcessRow } from '../model/index.ts'
import { sameProcess } from '../model/index.ts'
import type { Neighbours } from './neighbours.ts'

/** The part of a run's record that decides membership. */
export type TreeRecord = {
  readonly id: string
  readonly marker: number | null
  readonly cookie: string
  readonly keeper: ProcessId | null
  readonly harness: ProcessId | null
  /** Its keeper has not yet seen the end of what it started. */
  readonly beginning: boolean
  /** Its keeper was made the leader of a process session of its own. */
  readonly detached?: boolean
  /** In ticks: nothing of it is older. Null or left out: not known. */
  readonly born?: number | null
  /** The user that the run belongs to; null: not known. */
  readonly uid?: () => number | null
  /** Members seen earlier: one that was known by its parent is still known when the parent is gone. */
  readonly journal?: readonly ProcessId[]
  /** Members that this very command has seen a moment ago. */
  readonly seen?: readonly ProcessId[]
  /** Who is in its cgroup, read after the table: so a pid with a new tenant is never taken for the old one. */
  readonly contained?: ReadonlySet<number> | null
  /** Born inside, but not ours to end; nor is what they started. */
  readonly spared?: readonly ProcessId[]
  /** It ran before it had a marker: what it started then may carry secrets of runs around it. */
  readonly adopted?: boolean
  /** Those that its harness says are of it: lent by a shared daemon, or named by its session's id. A spared one may have started them. */
  readonly ours?: readonly ProcessId[]
  /** Markers of others that came to them through a shared daemon, and say nothing about them and what they start. */
  readonly leaked?: ReadonlySet<number>
}

/**
 * A file in the run directory names the agent, and the agent can write there. While its keeper lives, it must be the keeper's child; after that,
 * something else of the run must be on it.
 */
export function credibleHarness(run: TreeRecord, byPid: ReadonlyMap<number, ProcessRow>, near: Neighbours): ProcessId | null {
  const { harness, keeper, adopted, marker, contained } = run
  if (harness === null || keeper === null || adopted === true) return harness
  if (harness.ticks < (run.born ?? harness.ticks)) return null
  const row = byPid.get(harness.pid)
  if (row === undefined || row.ticks !== harness.ticks) return harness
  if (byPid.get(keeper.pid)?.ticks === keeper.ticks) return row.parent === keeper.pid ? harness : null
  if (run.seen?.some((one) => sameProcess(one, row)) === true) return harness
  // A run that could not be given a marker has nothing but this record.
  const isMarked = marker === null || row.marker === marker
  return isMarked || row.session === keeper.pid || contained?.has(row.pid) || near.secrets(row.pid).includes(run.cookie) ? harness : null
}

/**
 * A child of the keeper that it did not start for itself: the agent before its name is known, or an orphan that the keeper inherited as init of
 * a container. A helper has the keeper's own marker. A child that is older than the run was a job of the shell that became the keeper. `secrets`:
 * asked where the agent is not found although it has not ended, since it may wear what helpers wear.
 */
export function isInherited(child: ProcessRow, keeper: ProcessRow, run: TreeRecord, secrets: Neighbours['secrets'] | null): boolean {
  const { marker, harness, beginning, born, cookie } = run
  if (marker === null) return harness === null && beginning
  if (child.marker === marker) return true
  const since = born ?? harness?.ticks ?? null
  if (since === null || child.ticks < since) return false
  // In the foreground a launcher has to start up before there is an agent: only a job of the shell may be born in the launcher's own tick.
  if (child.ticks === born && run.detached !== true) return false
  return (child.marker ?? null) !== (keeper.marker ?? null) || secrets?.(child.pid).includes(cookie) === true
}

/** Files that an agent can write to name no process of another user. */
export function isOfOtherUser(row: ProcessRow, run: TreeRecord): boolean {
  const uid = run.uid?.() ?? null
  return uid !== null && row.uid !== uid
}
