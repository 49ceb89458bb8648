import type { Ended, LiveRun } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { takeNative } from './conversation.ts'
import { recordEvent } from './events.ts'
import { nativeOwner } from './reads.ts'
import { insertRun, recordEnded } from './writes.ts'

/** One that was never claimed: it comes on record with its end, and holds nothing. */
export function recordFound(db: Database, task: Ended, harness: string, native: string | null): boolean {
  const isNew = db
    .prepare(`INSERT INTO session (id, name, epoch, dir, argv, created_at, harness) VALUES (?, NULL, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
    .run(task.session, task.epoch, task.dir, JSON.stringify(task.argv), task.startedAt, harness)
  if (Number(isNew.changes) === 0) return false
  insertRun(db, task, 'running', null)
  const run: LiveRun = { ...task, state: 'running', keeper: null }
  recordEvent(db, run, 'claimed', { pid: task.launcher.pid, dir: task.dir, argv: task.argv[0] ?? '', found: true }, task.startedAt)
  // A conversation that any session has stays that one's.
  if (native !== null && nativeOwner(db, { harness, id: native }) === null) takeNative(db, task.session, { harness, id: native }, task.endedAt)
  return recordEnded(db, run, task, task.harness, task.endedAt)
}
