import type { NativeId, RestoredRun, RunRecord } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { takeNative } from './conversation.ts'
import { recordEvent } from './events.ts'
import { insertLock, runLock } from './lock.ts'
import { nativeOwner } from './reads.ts'
import { freeId, moveTo } from './rename-session.ts'
import { LIVE } from './rows.ts'
import { insertRun } from './writes.ts'

/**
 * A store that was lost, or is older than the truth, learns what the run directories remember: sessions with their highest epoch, and every run
 * as live, so that it is judged by process truth before anything is claimed over it. What is on record stays as it is.
 */
export function restore(db: Database, runs: readonly RestoredRun[], at: number): void {
  const isOnRecord = ({ record }: RestoredRun): boolean => db.prepare(`SELECT 1 FROM run WHERE id = ?`).get(record.id) !== undefined
  const lost = runs.filter((run) => !isOnRecord(run)).toSorted((a, b) => a.record.epoch - b.record.epoch)
  const restored = lost.map((run) => ({ ...run, record: restoreRun(db, run.record) }))
  for (const { record, directory } of restored) {
    if (directory !== null) insertLock(db, runLock(record, record.keeper, directory, 'its run directory says that an agent works here'))
    recordEvent(db, record, 'claimed', { pid: record.launcher.pid, dir: record.dir, argv: record.argv[0] ?? '', restored: true }, at)
  }
  if (restored.length > 0) db.prepare(ADOPT).run()
  // Whoever began last carries a conversation; an epoch says nothing about another session's.
  for (const { record, native } of restored.toSorted((a, b) => a.record.startedAt - b.record.startedAt))
    if (native !== null && !hasYounger(db, record, native)) takeNative(db, record.session, native, record.startedAt)
}

/** The claim of a session's next run adopts the tasks that are to survive a takeover. A directory still names the run that started them. */
const ADOPT = `UPDATE run SET parent = owner.id
  FROM run AS starter JOIN session ON session.id = starter.session JOIN run AS owner ON owner.session = session.id AND owner.epoch = session.epoch
  WHERE run.task = 'adopt' AND run.state IN (${LIVE}) AND starter.id = run.parent AND starter.epoch < session.epoch AND owner.state IN (${LIVE})`

/** Does a session have this conversation by a run that began later? */
function hasYounger(db: Database, { session, startedAt }: RunRecord, native: NativeId): boolean {
  const owner = nativeOwner(db, native)
  return owner !== null && owner.session.id !== session && (owner.run?.startedAt ?? 0) > startedAt
}

/** Answers it as it is on record now. Two that call themselves the same run of a session were just being told apart: none of them is dropped. */
function restoreRun(db: Database, record: RunRecord): RunRecord {
  const isTaken = db.prepare(`SELECT 1 FROM run WHERE session = ? AND epoch = ?`).get(record.session, record.epoch) !== undefined
  const run = isTaken ? { ...record, session: freeId(db, record.session) } : record
  const former = run.former ?? []
  if (!isTaken) bringAlong(db, run.session, former)
  db.prepare(
    `INSERT INTO session (id, name, epoch, dir, argv, created_at) VALUES (?, NULL, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, dir = excluded.dir, argv = excluded.argv WHERE excluded.epoch > epoch`,
  ).run(run.session, run.epoch, run.dir, JSON.stringify(run.argv), run.startedAt)
  for (const id of former)
    db.prepare(
      `INSERT INTO alias (alias, session, former) SELECT ?1, ?2, 1 WHERE NOT EXISTS (SELECT 1 FROM session WHERE id = ?1) ON CONFLICT DO NOTHING`,
    ).run(id, run.session)
  insertRun(db, run, run.keeper === null && !run.adopted ? 'starting' : 'running', run.keeper)
  return run
}

/** The store still has the session under an id that it had before: its row moves. One that lives there is told by itself who it is. */
function bringAlong(db: Database, session: string, former: readonly string[]): void {
  const isSession = (id: string): boolean => db.prepare(`SELECT 1 FROM session WHERE id = ?`).get(id) !== undefined
  const isLive = (id: string): boolean => db.prepare(`SELECT 1 FROM run WHERE session = ? AND state IN (${LIVE})`).get(id) !== undefined
  const before = former.findLast((id) => isSession(id) && !isLive(id))
  if (before !== undefined && !isSession(session)) moveTo(db, before, session)
}
