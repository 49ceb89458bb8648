import type { Lock, Relation } from '../model/index.ts'
import { lockFacts, lockHolderLine } from './holder.ts'
import { type Paint, plain } from './paint.ts'
import { type Cell, table } from './table.ts'
import { age, iso } from './time.ts'

/** A lock as it was just seen. */
export type LockView = {
  readonly lock: Lock
  /** The path that the directory has now, which was renamed since; null: it has its own, or none that anybody tells. */
  readonly movedTo: string | null
  readonly state: 'held' | 'unknown'
  readonly pid: number | null
  /** What proves that it is held, or why that cannot be told. */
  readonly proof: string
  /** Until a lock by hand expires. */
  readonly leftMs: number | null
  readonly sharedWith: readonly string[]
  readonly neighbours: readonly string[]
}

export function locksText(sights: readonly LockView[], now: number, paint: Paint): string[] {
  if (sights.length === 0) return [paint.dim('no locks')]
  const head: Cell[] = ['DIRECTORY', 'HOLDER', 'PID', 'KIND', 'SINCE', 'REASON', 'PROOF'].map((text) => ({ text, paint: paint.dim }))
  return table([
    head,
    ...sights.map((sight): Cell[] => [
      { text: plain(sight.movedTo ?? sight.lock.directory.path) },
      { text: holderName(sight.lock), paint: paint.bold },
      { text: String(sight.pid ?? '-') },
      { text: `${sight.lock.holder.kind}${sight.sharedWith.length > 0 ? ', shared' : ''}` },
      { text: `${age(now - sight.lock.since)} ago` },
      { text: plain(sight.lock.reason) },
      { text: plain(proofText(sight)) },
    ]),
  ])
}

function holderName({ session, holder, user }: Lock): string {
  if (holder.kind === 'process') return plain(holder.name)
  return session === null || holder.kind === 'time' ? user : session
}

function proofText({ lock, movedTo, state, proof, leftMs, sharedWith, neighbours }: LockView): string {
  return [
    state === 'unknown' ? `unknown: ${proof}` : proof,
    ...(movedTo === null ? [] : [`it was ${lock.directory.path} when it was taken`]),
    ...(leftMs === null ? [] : [`expires in ${age(leftMs)}`]),
    ...sharedWith.map((other) => `shared with ${other}`),
    ...neighbours.map((other) => `neighbour: ${other}`),
  ].join('; ')
}

/** The stable object of each entry of `locks --json`. */
export const lockJson = ({ lock, movedTo, state, pid, proof, sharedWith, neighbours }: LockView): Record<string, unknown> => ({
  dir: movedTo ?? lock.directory.path,
  takenAs: lock.directory.path,
  pid: lock.holder.kind === 'process' ? lock.holder.by.pid : pid,
  session: lock.session,
  kind: lock.holder.kind,
  since: iso(lock.since),
  reason: lock.reason,
  run: lock.run,
  state,
  proof,
  expiresAt: lock.holder.kind === 'run' ? null : iso(lock.holder.limit?.at ?? null),
  shared: sharedWith.length > 0,
  sharedWith,
  neighbours,
  holder: lockFacts(lock, pid),
})

/** What of a check is shown. */
export type CheckView = {
  readonly dir: string
  readonly state: 'free' | 'held' | 'unknown'
  /** The caller is part of what holds it, and nobody else does. */
  readonly own: boolean
  readonly why: string
  readonly holding: { readonly lock: Lock; readonly relation: Relation; readonly worksIn: string | null; readonly pid: number | null } | null
}

export function checkText({ dir, state, own, why, holding }: CheckView, now: number): string[] {
  if (holding === null) return [`${state} ${plain(dir)}: ${why}`]
  const held = { same: '', inside: ', which is above it', around: ', which is below it' }[holding.relation]
  const where = holding.worksIn === null ? held : `, whose agent works in ${plain(holding.worksIn)} now`
  return [`${state}${own ? ' by yourself' : ''} ${plain(dir)}: ${lockHolderLine(holding.lock, holding.pid, now)}${where}; ${why}`]
}

export const checkJson = ({ dir, state, own, why, holding }: CheckView): Record<string, unknown> => ({
  dir,
  state,
  own,
  why,
  relation: holding?.relation ?? null,
  worksIn: holding?.worksIn ?? null,
  holder: holding === null ? null : lockFacts(holding.lock, holding.pid),
})

/** What `lock` says: who holds it from now on, and until when. */
export function lockedText({ directory, holder }: Lock): string {
  const until = holder.kind === 'run' || holder.limit === null ? '' : ` until ${iso(holder.limit.at)}`
  if (holder.kind === 'time') return `locked ${plain(directory.path)}${until}, or until holdfast unlock`
  const who = holder.kind === 'process' ? `${plain(holder.name)} (pid ${holder.by.pid})` : 'its run'
  return `locked ${plain(directory.path)} as long as ${who} lives${until === '' ? '' : `, at most${until}`}`
}

export const lockedJson = (lock: Lock): Record<string, unknown> => ({
  ...lockFacts(lock, null),
  expiresAt: lock.holder.kind === 'run' ? null : iso(lock.holder.limit?.at ?? null),
})

export const unlockedText = ({ lock, broken }: { lock: Lock; broken: boolean }, now: number): string =>
  broken
    ? `broke the lock on ${plain(lock.directory.path)}: it was held by ${lockHolderLine(lock, null, now)}`
    : `unlocked ${plain(lock.directory.path)}`

export const unlockedJson = ({ lock, broken }: { lock: Lock; broken: boolean }): Record<string, unknown> => ({ ...lockFacts(lock, null), broken })
