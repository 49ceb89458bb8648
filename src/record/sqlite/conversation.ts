import type { BindAnswer, Binding, NativeId, RunBase } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { recordEvent } from './events.ts'
import { liveOwner, moveTo } from './rename-session.ts'
import { LIVE, runColumns, toRun } from './rows.ts'

/** Its agent is known to carry this conversation now. Only for the run that holds its session's epoch, and while it lives. */
export function bindNative(db: Database, run: RunBase, native: NativeId, { how, before, left }: Binding, at: number): BindAnswer {
  const current = db
    .prepare(
      `SELECT s.id, s.harness, s.native FROM session s JOIN run r ON r.session = s.id AND r.epoch = s.epoch
       WHERE s.epoch = ? AND r.id = ? AND r.state IN (${LIVE})`,
    )
    .get(run.epoch, run.id)
  if (current === undefined) return { kind: 'lost' }
  const session = String(current['id'])
  // Who only looked may have looked before it moved on.
  if (before !== undefined && current['native'] !== before) return { kind: 'lost' }
  if (current['harness'] === native.harness && current['native'] === native.id) return { kind: 'bound', changed: false }
  const owner = ownerOf(db, native, session)
  if (owner !== null && owner.id !== left) {
    recordMeeting(db, { ...run, session }, owner, native, how, at)
    return { kind: 'taken', by: owner }
  }
  // A session that is called by its conversation's id is called by the new one from now on: what has drifted is nowhere any more.
  const drifted = session === current['native'] && liveOwner(db, session, native.id) === null
  const moved = drifted ? moveTo(db, session, native.id).sessions : []
  takeNative(db, drifted ? native.id : session, native, at)
  recordEvent(db, run, 'bound', { ...native, before: current['native'], how }, at)
  return { kind: 'bound', changed: true, ...(drifted ? { moved } : {}) }
}

/** Both learn of it, once. */
export function recordMeeting(db: Database, run: RunBase, owner: RunBase, native: NativeId, how: string, at: number): void {
  if (wasTold(db, run, native)) return
  recordEvent(db, run, 'conflict', { ...native, with: owner.session, how }, at)
  recordEvent(db, owner, 'conflict', { ...native, with: run.session, how }, at)
}

/** What its harness says of itself; of a run that is over, nobody wants to hear. */
export function recordTold(db: Database, run: RunBase, detail: Readonly<Record<string, unknown>>, at: number): boolean {
  const live = db.prepare(`SELECT 1 FROM run WHERE id = ? AND epoch = ? AND state IN (${LIVE})`).get(run.id, run.epoch)
  if (live !== undefined) recordEvent(db, run, 'told', { ...detail }, at)
  return live !== undefined
}

/** The live run of another session that carries this conversation. */
export function ownerOf(db: Database, { harness, id }: NativeId, session: string) {
  const row = db
    .prepare(
      `SELECT ${runColumns('r')} FROM session s JOIN run r ON r.session = s.id AND r.epoch = s.epoch
       WHERE s.harness = ? AND s.native = ? AND s.id <> ? AND r.state IN (${LIVE})`,
    )
    .get(harness, id, session)
  return row === undefined ? null : toRun(row)
}

/** One conversation is one session's: whoever had it before knows where it went, and it is found there from now on. */
export function takeNative(db: Database, session: string, { harness, id }: NativeId, at: number): void {
  const before = db
    .prepare(
      `SELECT ${runColumns('r')} FROM session s JOIN run r ON r.session = s.id AND r.epoch = s.epoch WHERE s.harness = ? AND s.native = ? AND s.id <> ?`,
    )
    .get(harness, id, session)
  if (before !== undefined) recordEvent(db, toRun(before), 'moved', { harness, id, to: session }, at)
  db.prepare(`UPDATE session SET native = NULL, went_to = ? WHERE harness = ? AND native = ? AND id <> ?`).run(session, harness, id, session)
  db.prepare(`UPDATE session SET harness = ?, native = ?, went_to = NULL WHERE id = ?`).run(harness, id, session)
  // A name that somebody chose stays what it is; and what a session that lives was called stays its own, since its environment has it.
  db.prepare(
    `INSERT INTO alias (alias, session) VALUES (?1, ?2) ON CONFLICT (alias) DO UPDATE SET session = ?2, former = 0
     WHERE NOT EXISTS (SELECT 1 FROM session WHERE name = ?1) AND NOT (former = 1 AND EXISTS
       (SELECT 1 FROM session s JOIN run r ON r.session = s.id AND r.epoch = s.epoch WHERE s.id = alias.session AND r.state IN (${LIVE})))`,
  ).run(id, session)
}

export const wasTold = (db: Database, run: Pick<RunBase, 'id'>, { id }: Pick<NativeId, 'id'>): boolean =>
  db
    .prepare(
      `SELECT 1 FROM event WHERE session = (SELECT session FROM run WHERE id = ?1) AND run = ?1 AND kind = 'conflict' AND json_extract(detail, '$.id') = ?2`,
    )
    .get(run.id, id) !== undefined
