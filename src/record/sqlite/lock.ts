import type { Directory, Lock, LockRequest, ProcessId, RunBase, RunPlace, SeenLocks, SharedWith } from '../../model/index.ts'
import type { Database, SqlValue } from '../driver.ts'
import { recordEvent } from './events.ts'
import { LIVE, toDirectory, toLock } from './rows.ts'

/**
 * Whom a caller is no stranger to: the runs around it (?1, a list) and all that live in those; and of the session that it starts a run of
 * (?2) the live tasks, with theirs, which its next run takes over.
 */
const KIN = `WITH RECURSIVE
  around (id) AS (SELECT value FROM json_each(?1) UNION SELECT r.id FROM run r JOIN around a ON r.parent = a.id),
  family (id) AS (SELECT id FROM run WHERE session = ?2 UNION SELECT r.id FROM run r JOIN family f ON r.parent = f.id)
  SELECT value AS id FROM json_each(?1)
  UNION SELECT r.id FROM run r JOIN around a ON r.id = a.id WHERE r.state IN (${LIVE})
  UNION SELECT r.id FROM run r JOIN family f ON r.id = f.id WHERE r.task IS NOT NULL AND r.state IN (${LIVE})`

/**
 * A lock newer than ?3 on the directory (its names: ?4), on one above it (?5) or below it, by somebody who is a stranger. What was there
 * before has been judged by what is true by now; this is only for whoever came in between, so the names they were taken by still hold.
 * Worktrees (?6, the repository and the top of this one) do not touch each other.
 */
const NEWCOMER = `SELECT 1 FROM lock WHERE seq > ?3 AND (run IS NULL OR run NOT IN (SELECT id FROM (${KIN})))
  AND (dir_key IN (SELECT value FROM json_each(?4)) OR dir_inner IN (SELECT value FROM json_each(?4)) OR (
    (repository IS NULL OR ?6 IS NULL OR json_extract(repository, '$.common') <> json_extract(?6, '$.common')
      OR json_extract(repository, '$.top') = json_extract(?6, '$.top'))
    AND (dir_key IN (SELECT value FROM json_each(?5)) OR dir_inner IN (SELECT value FROM json_each(?5))
      OR EXISTS (SELECT 1 FROM json_each(above) WHERE value IN (SELECT value FROM json_each(?4))))))`

export function hasNewcomer(db: Database, directory: Directory, seen: number, kin: readonly string[], session: string | null): boolean {
  const { key, inner, above, repository } = directory
  const names = JSON.stringify([key, inner])
  return db.prepare(NEWCOMER).get(JSON.stringify(kin), session, seen, names, JSON.stringify(above), orNull(repository)) !== undefined
}

export const locks = (db: Database, ancestors: readonly string[], session: string | null): SeenLocks => {
  const found = allLocks(db)
  const kin = db.prepare(KIN).all(JSON.stringify(ancestors), session)
  return { locks: found, newest: Math.max(0, ...found.map(({ seq }) => seq)), kin: new Set(kin.map((row) => String(row['id']))) }
}

/** Those of these runs, whoever holds them. */
export const locksOf = (db: Database, runs: readonly string[]): Lock[] =>
  db.prepare('SELECT * FROM lock WHERE run IN (SELECT value FROM json_each(?)) ORDER BY dir, seq').all(JSON.stringify(runs)).map(toLock)

/** Few columns: each of them costs, for each of many runs. */
export const workplaces = (db: Database): RunPlace[] => [
  ...db
    .prepare(`SELECT run, dir, dir_key, dir_inner, above, below, repository FROM lock WHERE kind = 'run' AND run IS NOT NULL`)
    .all()
    .map((row) => ({ run: String(row['run']), held: toDirectory(row) })),
  ...db
    .prepare(`SELECT id FROM run WHERE state IN (${LIVE}) AND id NOT IN (SELECT run FROM lock WHERE kind = 'run' AND run IS NOT NULL)`)
    .all()
    .map((row) => ({ run: String(row['id']), held: null })),
]

export const allLocks = (db: Database): Lock[] => db.prepare('SELECT * FROM lock ORDER BY dir, seq').all().map(toLock)

export const strayLocks = (db: Database): Lock[] =>
  db
    .prepare(`SELECT * FROM lock WHERE kind <> 'run' OR run IS NULL OR run NOT IN (SELECT id FROM run WHERE state IN (${LIVE})) ORDER BY seq`)
    .all()
    .map(toLock)

/** Where there are more than that, another choice each time, so that none is left out for ever. */
export const heldByProcesses = (db: Database, limit: number): Lock[] =>
  db.prepare(`SELECT * FROM lock WHERE kind = 'process' ORDER BY random() LIMIT ?`).all(limit).map(toLock)

export function lock(db: Database, { seenLock, kin, ...request }: LockRequest): number | null {
  if (hasNewcomer(db, request.directory, seenLock, kin, request.session)) return null
  return insertLock(db, request)
}

export function unlock(db: Database, { seq, run, session, directory }: Lock, how: { by: string; reason: string } | null, at: number): boolean {
  const freed = Number(db.prepare('DELETE FROM lock WHERE seq = ?').run(seq).changes) > 0
  if (!freed || how === null) return freed
  const epoch = Number(db.prepare('SELECT epoch FROM run WHERE id = ?').get(run)?.['epoch'] ?? 0)
  recordEvent(db, { id: run ?? NOBODY, session: session ?? NOBODY, epoch }, 'unlocked', { dir: directory.path, ...how }, at)
  return true
}

/** In events of what belongs to no session. */
const NOBODY = '-'

/** The keeper has just come on record: the lock knows it from the same moment on. */
export const lockKnowsKeeper = (db: Database, run: string, keeper: ProcessId): void =>
  void db.prepare(`UPDATE lock SET holder = json_set(holder, '$.keeper', json(?)) WHERE run = ? AND kind = 'run'`).run(JSON.stringify(keeper), run)

export const releaseOf = (db: Database, run: string): void => void db.prepare(`DELETE FROM lock WHERE run = ? AND kind = 'run'`).run(run)

/** Everything that proves who holds it is copied: the lock depends on no run row. */
export const runLock = (
  run: RunBase,
  keeper: ProcessId | null,
  directory: Directory,
  reason: string,
  shared: readonly SharedWith[] = [],
): Omit<Lock, 'seq'> => ({
  directory,
  holder: {
    kind: 'run',
    launcher: run.launcher,
    keeper: keeper && { pid: keeper.pid, ticks: keeper.ticks },
    marker: run.marker,
    cookie: run.cookie,
    containment: run.containment,
    adopted: run.adopted,
  },
  place: run.place,
  session: run.session,
  run: run.id,
  since: run.startedAt,
  reason,
  shared,
  host: run.host,
  user: run.user,
})

export function insertLock(db: Database, { directory, ...lock }: Omit<Lock, 'seq'>): number {
  const row: Record<string, SqlValue> = {
    kind: lock.holder.kind,
    dir_key: directory.key,
    dir_inner: directory.inner,
    dir: directory.path,
    above: JSON.stringify(directory.above),
    below: JSON.stringify(directory.below),
    repository: orNull(directory.repository),
    holder: JSON.stringify(lock.holder),
    place: JSON.stringify(lock.place),
    session: lock.session,
    run: lock.run,
    since: lock.since,
    reason: lock.reason,
    shared: JSON.stringify(lock.shared),
    host: lock.host,
    user: lock.user,
  }
  const names = Object.keys(row)
  const sql = `INSERT INTO lock (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`
  return Number(db.prepare(sql).run(...Object.values(row)).lastInsertRowid)
}

const orNull = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))
