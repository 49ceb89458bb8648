import type { LiveRun, Lock } from '../model/index.ts'
import { plain } from './paint.ts'
import { age, iso } from './time.ts'

export type Holder = LiveRun & { readonly pid: number }

/** One line that names a live owner: pid, session, since when, where, on which terminal. */
export function holderLine(holder: Holder, now: number): string {
  const where = holder.tmux !== null ? 'in tmux' : holder.detached ? 'detached' : (holder.tty ?? 'no terminal')
  return `pid ${holder.pid} (session ${holder.session}, ${holder.user}@${holder.host}, ${where}) since ${iso(holder.startedAt)} (${age(now - holder.startedAt)} ago) in ${plain(holder.dir)}`
}

export const holderFacts = (holder: Holder): Record<string, unknown> => ({
  session: holder.session,
  run: holder.id,
  pid: holder.pid,
  since: iso(holder.startedAt),
  dir: holder.dir,
  host: holder.host,
  user: holder.user,
  tty: holder.tty,
  attach: attachCommand(holder),
})

/** A plain foreground run can be taken over, not attached. */
export const attachCommand = (run: { detached: boolean; session: string }): string | null => (run.detached ? `holdfast attach ${run.session}` : null)

/** The same of a lock that no live run on record has: by hand, or by a tree that lives on. */
export function lockHolderLine(lock: Lock, pid: number | null, now: number): string {
  const since = `since ${iso(lock.since)} (${age(now - lock.since)} ago)`
  const who = lock.session === null ? `${lock.user}@${lock.host}` : `session ${lock.session}, ${lock.user}@${lock.host}`
  const told = `${since} in ${plain(lock.directory.path)}, ${JSON.stringify(plain(lock.reason))}`
  if (lock.holder.kind === 'time') return `${who}, by hand until ${iso(lock.holder.limit.at)}, ${told}`
  return lock.holder.kind === 'process'
    ? `pid ${lock.holder.by.pid} (${plain(lock.holder.name)}, ${who}), by hand ${told}`
    : `pid ${pid ?? lock.holder.keeper?.pid ?? lock.holder.launcher.pid} (${who}) ${told}`
}

export const lockFacts = (lock: Lock, pid: number | null): Record<string, unknown> => ({
  session: lock.session,
  run: lock.run,
  pid: pid ?? (lock.holder.kind === 'process' ? lock.holder.by.pid : null),
  kind: lock.holder.kind,
  since: iso(lock.since),
  dir: lock.directory.path,
  reason: lock.reason,
  host: lock.host,
  user: lock.user,
  attach: null,
})
