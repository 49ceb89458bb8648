import type { RestoredRun } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { insertLock, runLock } from './locks.ts'
import { takeNative } from './natives.ts'
import { insertRun } from './writes.ts'

/**
 * A store that was lost is made again from what the run directories remember: sessions with their highest epoch, and every run as
 * live, so that it is judged by process truth before anything is claimed over it.
 */
export function restore(db: Database, runs: readonly RestoredRun[]): void {
  for (const { record: run, directory } of runs.toSorted((a, b) => a.record.epoch - b.record.epoch)) {
    db.prepare(
      `INSERT INTO session (id, name, epoch, dir, argv, created_at) VALUES (?, NULL, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, dir = excluded.dir, argv = excluded.argv WHERE excluded.epoch > epoch`,
    ).run(run.session, run.epoch, run.dir, JSON.stringify(run.argv), run.startedAt)
    for (const id of run.former ?? [])
      db.prepare(
        `INSERT INTO alias (alias, session) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM session WHERE id = ?1) ON CONFLICT DO NOTHING`,
      ).run(id, run.session)
    const isNew = insertRun(db, run, run.keeper === null && !run.adopted ? 'starting' : 'running', run.keeper)
    if (!isNew || directory === null) continue
    insertLock(db, runLock(run, run.keeper, directory, 'an agent worked here when the store was lost'))
  }
  // Whoever began last carries a conversation; an epoch says nothing about another session's.
  for (const { record, native } of runs.toSorted((a, b) => a.record.startedAt - b.record.startedAt))
    if (native !== null) takeNative(db, record.session, native, record.startedAt)
}
