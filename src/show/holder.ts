import type { LiveRun } from '../model/index.ts'
import { plain } from './paint.ts'
import { age, iso } from './time.ts'

export type Holder = LiveRun & { readonly pid: number }

/** One line that names a live owner: pid, session, since when, where, on which terminal. */
export function holderLine(holder: Holder, now: number): string {
  const where = holder.detached ? 'detached' : (holder.tty ?? 'no terminal')
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
