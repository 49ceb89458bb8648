import type { BindAnswer, Binding, NativeId, RunBase } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { recordEvent } from './events.ts'
import { LIVE, runColumns, toRun } from './rows.ts'

/** Its agent is known to carry this conversation now. Only for the run that holds its session's epoch, and while it lives. */
export function bindNative(db: Database, run: RunBase, native: NativeId, { how, before }: Binding, at: number): BindAnswer {
  const current = db
    .prepare(
      `SELECT s.harness, s.native FROM session s JOIN run r ON r.session = s.id AND r.epoch = s.epoch
       WHERE s.id = ? AND s.epoch = ? AND r.id = ? AND r.state IN (${LIVE})`,
    )
    .get(run.session, run.epoch, run.id)
  if (current === undefined) return { kind: 'lost' }
  // Who only looked may have looked before it moved on.
  if (before !== undefined && current['native'] !== before) return { kind: 'lost' }
  if (current['harness'] === native.harness && current['native'] === native.id) return { kind: 'bound', changed: false }
  const owner = ownerOf(db, native, run.session)
  if (owner !== null) {
    // Both learn of it, once.
    if (!wasTold(db, run, native)) {
      recordEvent(db, run, 'conflict', { ...native, with: owner.session, how }, at)
      recordEvent(db, owner, 'conflict', { ...native, with: run.session, how }, at)
    }
    return { kind: 'taken', by: owner }
  }
  takeNative(db, run.session, native, at)
  recordEvent(db, run, 'bound', { ...native, before: current['native'], how }, at)
  return { kind: 'bound', changed: true }
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
  db.prepare(
    `INSERT INTO alias (alias, session) VALUES (?1, ?2) ON CONFLICT (alias) DO UPDATE SET session = ?2
     WHERE NOT EXISTS (SELECT 1 FROM session WHERE name = ?1)`,
  ).run(id, session)
}

const wasTold = (db: Database, run: RunBase, { id }: NativeId): boolean =>
  db
    .prepare(`SELECT 1 FROM event WHERE session = ? AND run = ? AND kind = 'conflict' AND json_extract(detail, '$.id') = ?`)
    .get(run.session, run.id, id) !== undefined
