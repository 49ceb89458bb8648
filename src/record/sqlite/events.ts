import type { EventKind, RunBase } from '../../model/index.ts'
import { policy } from '../../model/index.ts'
import type { Database } from '../driver.ts'

/**
 * In the order in which it was recorded: an end that was written down before it was recorded does not come before its causes. A session may
 * have got another id since its run was read: it is told under the one that it has.
 */
export function recordEvent(
  db: Database,
  run: Pick<RunBase, 'id' | 'session' | 'epoch'>,
  kind: EventKind,
  detail: Readonly<Record<string, unknown>>,
  at: number,
): void {
  const session = String(db.prepare(`SELECT session FROM run WHERE id = ?`).get(run.id)?.['session'] ?? run.session)
  db.prepare(
    `INSERT INTO event (at, kind, session, run, epoch, detail) VALUES (max(?, coalesce((SELECT max(at) FROM event WHERE session = ?), 0)), ?, ?, ?, ?, ?)`,
  ).run(at, session, kind, session, run.id, run.epoch, JSON.stringify(detail))
}

/** Of no session. No run's end ever takes these away, so each takes the oldest beyond the bound. */
export function recordDaemon(db: Database, detail: Readonly<Record<string, unknown>>, at: number): void {
  recordEvent(db, { id: '', session: '', epoch: 0 }, 'daemon', detail, at)
  db.prepare(`DELETE FROM event WHERE session = '' AND seq <= (SELECT seq FROM event WHERE session = '' ORDER BY seq DESC LIMIT 1 OFFSET ?)`).run(
    policy.daemonEventsKept,
  )
}
