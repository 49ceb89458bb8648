import type { OutboxEntry, OutboxState, WorkRequest } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { eventsAfter, get } from './requests.ts'

/** Of a request at most so many steps are read at once. */
const STEPS = 100

/** Requests of a target with steps that it has not heard. `?1` begins the key of its requests. */
const BEHIND = `
  FROM request q LEFT JOIN outbox o ON o.target = ?1 AND o.request = q.id
  WHERE q.source_key >= ?1 || char(10) AND q.source_key < ?1 || char(11)
    AND EXISTS (SELECT 1 FROM request_event e WHERE e.request = q.id AND e.seq > coalesce(o.heard, 0))`

export function dueReports(db: Database, target: string, now: number, limit: number): OutboxEntry[] {
  const rows = db
    .prepare(
      `SELECT q.id, coalesce(o.heard, 0) AS heard, coalesce(o.tries, 0) AS tries ${BEHIND}
       AND (o.due_at IS NULL OR o.due_at <= ?2) ORDER BY q.updated_at, q.id LIMIT ?3`,
    )
    .all(target, now, limit)
  return rows.flatMap((row) => {
    const request: WorkRequest | null = get(db, String(row['id']))
    return request === null ? [] : [{ request, events: eventsAfter(db, request.id, Number(row['heard']), STEPS), tries: Number(row['tries']) }]
  })
}

/** It only grows: a slower worker that heard less changes nothing. */
export function recordHeard(db: Database, target: string, request: string, seq: number): void {
  db.prepare(
    `INSERT INTO outbox (target, request, heard, tries, due_at, trouble) VALUES (?, ?, ?, 0, NULL, NULL)
     ON CONFLICT (target, request) DO UPDATE SET heard = excluded.heard, tries = 0, due_at = NULL, trouble = NULL WHERE excluded.heard > heard`,
  ).run(target, request, seq)
}

export function recordFailed(db: Database, target: string, request: string, why: string, dueAt: number): void {
  db.prepare(
    `INSERT INTO outbox (target, request, heard, tries, due_at, trouble) VALUES (?, ?, 0, 1, ?, ?)
     ON CONFLICT (target, request) DO UPDATE SET tries = tries + 1, due_at = excluded.due_at, trouble = excluded.trouble`,
  ).run(target, request, dueAt, why)
}

export function outboxState(db: Database, target: string): OutboxState {
  const row = db.prepare(`SELECT count(*) AS requests, min(q.updated_at) AS since, max(o.trouble) AS trouble ${BEHIND}`).get(target)
  return {
    requests: Number(row?.['requests'] ?? 0),
    since: row?.['since'] == null ? null : Number(row['since']),
    trouble: row?.['trouble'] == null ? null : String(row['trouble']),
  }
}
