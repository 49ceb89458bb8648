import type { EventKind, RunBase } from '../../model/index.ts'
import type { Database } from '../driver.ts'

/** In the order in which it was recorded: an end that was written down before it was recorded does not come before its causes. */
export function recordEvent(
  db: Database,
  run: Pick<RunBase, 'id' | 'session' | 'epoch'>,
  kind: EventKind,
  detail: Record<string, unknown>,
  at: number,
): void {
  db.prepare(
    `INSERT INTO event (at, kind, session, run, epoch, detail) VALUES (max(?, coalesce((SELECT max(at) FROM event WHERE session = ?), 0)), ?, ?, ?, ?, ?)`,
  ).run(at, run.session, kind, run.session, run.id, run.epoch, JSON.stringify(detail))
}
