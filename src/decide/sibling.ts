import type { Directory, Run } from '../model/index.ts'
import { isLive, MAX_LINEAGE } from '../model/index.ts'

/** A session that was just seen, as far as choosing goes. `near`: whether it works where the asker does; null: nobody asks. */
export type Peer = {
  readonly session: { readonly id: string }
  readonly run: Run
  readonly liveness: 'alive' | 'dead' | 'unknown'
  readonly near: boolean | null
}

/** For whom siblings are looked for: by every id that its session had while we looked. */
export type Asker = { readonly ids: readonly string[]; readonly run: Run | null }

/** Of any run: its session, and the run that it was started in. */
export type Families = ReadonlyMap<string, { readonly session: string; readonly parent: string | null }>

/** A sibling that was started in the asker's session, or that has started it. */
export type Kinship = 'child' | 'parent'

/** `over`: only how it ended is still being written down. `twice`: its session is shown by another run. */
export type SiblingChoice =
  | { readonly kind: 'sibling'; readonly relation: Kinship | null }
  | { readonly kind: 'left-out'; readonly because: 'self' | 'task' | 'over' | 'twice' | 'elsewhere' }

/**
 * Which of those that were seen are the asker's siblings: every other session that lives or may live, once. What cannot be told is shown as
 * such, and not left out; a task is its session's own work, and no sibling.
 */
export function chooseSiblings<P extends Peer>(
  peers: readonly P[],
  asker: Asker | null,
  families: Families,
): { readonly peer: P; readonly choice: SiblingChoice }[] {
  const because = peers.map((peer) => reasonAgainst(peer, asker))
  return peers.map((peer, index) => {
    const reason = because[index] ?? null
    if (reason !== null) return leftOut(peer, reason)
    const isTwice = peers.some(
      (other, at) => at !== index && because[at] === null && other.session.id === peer.session.id && isShownFirst([other, at], [peer, index]),
    )
    if (isTwice) return leftOut(peer, 'twice')
    return { peer, choice: { kind: 'sibling', relation: asker === null ? null : relationTo(peer, asker, families) } }
  })
}

type Reason = Extract<SiblingChoice, { kind: 'left-out' }>['because']

const leftOut = <P>(peer: P, because: Reason): { peer: P; choice: SiblingChoice } => ({ peer, choice: { kind: 'left-out', because } })

function reasonAgainst({ session, run, liveness, near }: Peer, asker: Asker | null): Reason | null {
  if (asker !== null && (asker.ids.includes(session.id) || asker.run?.id === run.id)) return 'self'
  if (liveness === 'dead') return 'over'
  if (run.task !== null) return 'task'
  return near === false ? 'elsewhere' : null
}

/** The run that its session is on record with, before a tree that lives on although its run is over; then the one that is certain. */
function isShownFirst([one, at]: readonly [Peer, number], [other, otherAt]: readonly [Peer, number]): boolean {
  const rank = ({ run, liveness }: Peer): number => (isLive(run) ? 2 : 0) + (liveness === 'alive' ? 1 : 0)
  return rank(one) === rank(other) ? at < otherAt : rank(one) > rank(other)
}

function relationTo({ session, run }: Peer, asker: Asker, families: Families): Kinship | null {
  if (around(run, families).some((id) => asker.ids.includes(id))) return 'child'
  return asker.run !== null && around(asker.run, families).includes(session.id) ? 'parent' : null
}

/** The sessions that a run was started in, nearest first. */
function around({ parent }: Run, families: Families): string[] {
  const sessions: string[] = []
  for (let at = parent === null ? undefined : families.get(parent); at !== undefined && sessions.length < MAX_LINEAGE; ) {
    sessions.push(at.session)
    at = at.parent === null ? undefined : families.get(at.parent)
  }
  return sessions
}

/** One repository, also in linked worktrees of it, or in folders of it that do not touch. */
export const shareRepository = (one: Pick<Directory, 'repository'>, other: Pick<Directory, 'repository'>): boolean =>
  one.repository !== null && one.repository.common === other.repository?.common
