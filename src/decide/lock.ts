import type { Directory, Ending, Limit, LiveRun, Lock, Member, Place, ProcessId, Relation } from '../model/index.ts'
import { MS_PER_TICK, sameProcess } from '../model/index.ts'
import { type Seen, verdict } from './verdict.ts'

/** What is true of a lock. Only `free` frees it. */
export type LockVerdict =
  /** `passing`: somebody alive is just ending what is left of it. */
  | { readonly kind: 'held'; readonly why: string; readonly pid: number | null; readonly passing: boolean }
  /** `ending`: how the run ended that had it, where that is proven too. */
  | { readonly kind: 'free'; readonly why: string; readonly ending: Ending | null }
  | { readonly kind: 'unknown'; readonly why: string }

/** A lock that a run has is held as long as anything of its tree lives, whatever became of its keeper and its wrappers. */
export function lockVerdict(run: LiveRun, seen: Seen, harness: ProcessId | null): LockVerdict {
  const judged = verdict(run, seen)
  const pid = harness?.pid ?? run.keeper?.pid ?? run.launcher.pid
  switch (judged.kind) {
    case 'over':
      return { kind: 'free', why: EMPTY, ending: judged.ending }
    case 'settling':
      // Only how it ended is still being written down.
      if (seen.tree?.kind === 'empty' && seen.harness?.kind === 'gone') return { kind: 'free', why: EMPTY, ending: null }
      return { kind: 'held', why: judged.why, pid, passing: true }
    case 'unknown':
      return judged
    case 'starting':
      return { kind: 'held', why: judged.why, pid, passing: false }
    case 'leftovers':
      return { ...heldBy(judged.members, pid), passing: seen.keeper?.kind === 'alive' && run.state !== 'starting' }
    case 'alive':
      if (seen.harness?.kind !== 'alive') return heldBy(seen.tree?.kind === 'members' ? seen.tree.members : [], pid)
      return { kind: 'held', why: `its agent is alive (pid ${pid}, born at tick ${harness?.ticks})`, pid, passing: false }
  }
}

const EMPTY = 'its tree was seen empty'

function heldBy(members: readonly Member[], pid: number): Extract<LockVerdict, { kind: 'held' }> {
  const named = members.slice(0, NAMED).map(({ row, proof }) => `pid ${row.pid} by ${proof}`)
  const rest = members.length > NAMED ? `, and ${members.length - NAMED} more` : ''
  const why = named.length === 0 ? "its harness's daemon still works on it" : `of its tree live on: ${named.join(', ')}${rest}`
  return { kind: 'held', why, pid: members[0]?.row.pid ?? pid, passing: false }
}
const NAMED = 3

/** What of a held directory counts: where it is known to be now. */
export type Standing = Pick<Directory, 'repository' | 'above' | 'below'> & { readonly names: readonly string[] }

export const standingOf = ({ key, inner, above, below, repository }: Directory): Standing => ({ names: [key, inner], above, below, repository })

/** How a wanted directory lies to a held one; null: they do not touch. Linked worktrees of one repository never do, wherever they lie. */
export function relationOf(wanted: Directory, held: Standing): Relation | null {
  const own = [wanted.key, wanted.inner]
  if (meet(own, held.names)) return 'same'
  if (areWorktrees(wanted, held)) return null
  if (meet(wanted.above, held.names) || held.below.some((place) => overlap(place, wanted.inner))) return 'inside'
  return meet(own, held.above) || wanted.below.some((place) => held.names.some((name) => overlap(place, name))) ? 'around' : null
}

const meet = (some: readonly string[], others: readonly string[]): boolean => some.some((name) => others.includes(name))

/** Two inner places, of which one is the other or lies in it. */
const overlap = (one: string, other: string): boolean => one === other || one.startsWith(asFolder(other)) || other.startsWith(asFolder(one))
const asFolder = (place: string): string => (place.endsWith('/') ? place : `${place}/`)

/** Two linked worktrees of one repository, or one and the main one. */
export const areWorktrees = (one: Pick<Directory, 'repository'>, other: Pick<Directory, 'repository'>): boolean =>
  one.repository !== null &&
  other.repository !== null &&
  one.repository.common === other.repository.common &&
  one.repository.top !== other.repository.top

/**
 * Where a held directory is now. `there`: what its path leads to by now. `elsewhere`: where the holder itself is said to be in it, after a
 * rename. Null: it no longer exists, and nothing can be in its way.
 */
export function standing(held: Directory, there: Directory | null, elsewhere: () => Directory | 'deleted' | null): Standing | null {
  if (there !== null && isSame(there.key, held.key)) return standingOf(there)
  const now = elsewhere()
  if (now === 'deleted') return null
  if (now !== null && isSame(now.key, held.key)) return standingOf(now)
  // Moved or deleted, and nobody tells: by its key it is known wherever it is met, and those above it, by theirs, are not freed without proof.
  return { names: [held.key], above: held.above.filter((name) => !name.includes('@')), below: [], repository: held.repository }
}

/** A key that does not tell the time of birth (an older record, a place where it cannot be asked) is taken for the same. */
const isSame = (one: string, other: string): boolean => one === other || one.startsWith(`${other}:`) || other.startsWith(`${one}:`)

/** What is left of the time of a lock by hand. By ticks where they are of this boot; a clock that somebody set neither frees nor keeps it. */
export function leftOf(limit: Limit, there: Place, now: { here: Place; ticks: number; at: number }): number {
  const { here } = now
  const comparable = here.boot !== '' && here.boot === there.boot && here.timeNamespace === there.timeNamespace
  return Math.max(0, comparable ? limit.ms - (now.ticks - limit.ticks) * MS_PER_TICK : limit.at - now.at)
}

/** Is the caller, by the processes that it was started from, of the lock's own tree? `runs`: those around the caller and their tasks. */
export function isDelegated({ holder, run }: Lock, runs: ReadonlySet<string>, origins: readonly ProcessId[]): boolean {
  if (run !== null && runs.has(run)) return true
  return holder.kind === 'process' && origins.some((origin) => sameProcess(origin, holder.by))
}

/** A lock by hand is its holder's, and of what that started; one that only the time ends is its user's. */
export function isOwner({ holder, user, host }: Lock, caller: { origins: readonly ProcessId[]; user: string; host: string }): boolean {
  if (holder.kind === 'run') return false
  if (holder.kind === 'process') return caller.origins.some((origin) => sameProcess(origin, holder.by))
  return user === caller.user && host === caller.host
}
