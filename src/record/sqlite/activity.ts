import type { ActivityChange, Refusal, RunBase, UnwatchedSpending } from '../../model/index.ts'
import { policy } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { recordEvent } from './events.ts'
import { LIVE } from './rows.ts'

/**
 * A change is known by the time at which it was written down: whoever comes with it second, or with an older one, changes nothing.
 * A guess was written down by nobody, and its time may be that of the last output, before the state on record was seen: only its gap holds it back.
 */
export function recordActivity(db: Database, run: RunBase, { state, how, since, gapMs }: ActivityChange, at: number): boolean {
  if (!isLive(db, run)) return false
  const last = lastActivity(db, run)
  if (last !== null) {
    // A clock that was set back must not end the record.
    const isOlder = how !== 'output' && since <= last.since && last.since <= at
    if (last.state === state || isOlder || (at - last.at < gapMs && last.at <= at)) return false
  }
  // What was only guessed at says nothing of the turn that somebody tells of.
  const isComparable = last !== null && (last.how === 'output') === (how === 'output')
  const before = !isComparable ? {} : { before: last.state, lasted: Math.max(0, since - last.since) }
  recordEvent(db, run, 'activity', { state, how, since, ...before }, at)
  forgetOldest(db, run, 'activity')
  return true
}

/** Whoever asks: who tries under many names must not fill the record. The first is named. */
export function recordRefused(db: Database, run: RunBase, { asker, wanted, dir, gapMs }: Refusal, at: number): boolean {
  if (!isLive(db, run)) return false
  const told = db
    .prepare(
      `SELECT 1 FROM event WHERE session = (SELECT session FROM run WHERE id = ?1) AND run = ?1 AND kind = 'refused' AND at > ?2 AND at <= ?3
       AND json_extract(detail, '$.wanted') = ?4`,
    )
    .get(run.id, at - gapMs, at, wanted)
  if (told !== undefined) return false
  recordEvent(db, run, 'refused', { wanted, dir, ...asker }, at)
  forgetOldest(db, run, 'refused')
  return true
}

/** A spender is told of once for each time in which nobody watches, however long that lasts. */
export function recordUnwatched(db: Database, run: RunBase, spending: UnwatchedSpending, at: number): boolean {
  const told = db
    .prepare(
      `SELECT 1 FROM event WHERE session = (SELECT session FROM run WHERE id = ?1) AND run = ?1 AND kind = 'unwatched'
       AND json_extract(detail, '$.task') IS ?2 AND json_extract(detail, '$.why') = ?3 AND json_extract(detail, '$.since') = ?4`,
    )
    .get(run.id, spending.task, spending.why, spending.since)
  if (told !== undefined) return false
  recordEvent(db, run, 'unwatched', { ...spending }, at)
  forgetOldest(db, run, 'unwatched')
  return true
}

/** A run may live for months: of what comes again and again, each takes the oldest beyond the bound. */
function forgetOldest(db: Database, { id }: RunBase, kind: 'activity' | 'refused' | 'unwatched'): void {
  db.prepare(
    `DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE session = (SELECT session FROM run WHERE id = ?1) AND run = ?1 AND kind = ?2
     ORDER BY seq DESC LIMIT -1 OFFSET ?3)`,
  ).run(id, kind, policy.activityEventsKept)
}

function lastActivity(db: Database, { id }: RunBase): { state: string; how: string; since: number; at: number } | null {
  const row = db
    .prepare(
      `SELECT at, json_extract(detail, '$.state') AS state, json_extract(detail, '$.how') AS how, json_extract(detail, '$.since') AS since FROM event
       WHERE session = (SELECT session FROM run WHERE id = ?1) AND run = ?1 AND kind = 'activity' ORDER BY seq DESC LIMIT 1`,
    )
    .get(id)
  return row === undefined ? null : { state: String(row['state']), how: String(row['how']), since: Number(row['since']), at: Number(row['at']) }
}

const isLive = (db: Database, { id, epoch }: RunBase): boolean =>
  db.prepare(`SELECT 1 FROM run WHERE id = ? AND epoch = ? AND state IN (${LIVE})`).get(id, epoch) !== undefined
