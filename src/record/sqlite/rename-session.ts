import { isLive, isSessionId } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { find } from './reads.ts'
import { LIVE } from './rows.ts'

/** The other live session that has this id: as its own, as an alias, or as that of its conversation. */
export function liveOwner(db: Database, session: string, id: string): string | null {
  const found = find(db, id, 'exact')
  const run = found.kind === 'found' && found.view.session.id !== session ? found.view.run : null
  if (run !== null && isLive(run)) return run.session
  const other = db
    .prepare(
      `SELECT s.id FROM session s JOIN run r ON r.session = s.id AND r.epoch = s.epoch
       WHERE (s.native = ?1 OR s.id = (SELECT session FROM alias WHERE alias = ?1)) AND s.id <> ?2 AND r.state IN (${LIVE})`,
    )
    .get(id, session)
  return other === undefined ? null : String(other['id'])
}

/** Who has another id now: the one that was to, its tasks that were called after it, and first of all the one that stepped aside. */
export type Moved = { readonly aside: string | null; readonly sessions: readonly string[] }

/** The row moves with everything. One that is over and had this id steps aside, with its history. */
export function moveTo(db: Database, session: string, to: string): Moved {
  // Children name their session: they are checked when all of them have moved.
  db.exec('PRAGMA defer_foreign_keys = ON')
  const isTaken = db.prepare(`SELECT 1 FROM session WHERE id = ?`).get(to) !== undefined
  const aside = isTaken ? freeId(db, to) : null
  const before = aside === null ? [] : [aside, ...moveTasks(db, to, aside)]
  if (aside !== null) rename(db, to, aside)
  db.prepare(`UPDATE session SET name = NULL WHERE name = ? AND id <> ?`).run(to, session)
  db.prepare(`DELETE FROM alias WHERE alias = ?`).run(to)
  const tasks = moveTasks(db, session, to)
  rename(db, session, to)
  db.prepare(`INSERT INTO alias (alias, session, former) VALUES (?1, ?2, 1) ON CONFLICT (alias) DO UPDATE SET session = ?2, former = 1`).run(
    session,
    to,
  )
  // A session's name is an alias of it, whatever it is called otherwise.
  db.prepare(`INSERT INTO alias (alias, session) SELECT name, id FROM session WHERE id = ? AND name IS NOT NULL ON CONFLICT DO NOTHING`).run(to)
  if (aside !== null) db.prepare(`UPDATE session SET went_to = ? WHERE id = ?`).run(to, aside)
  return { aside, sessions: [...before, ...tasks, to] }
}

/** Tasks that are called after their session go on being so, where that is possible. */
function moveTasks(db: Database, session: string, to: string): readonly string[] {
  const tasks = db
    .prepare(
      `SELECT DISTINCT s.id FROM session s JOIN run r ON r.session = s.id WHERE r.task IS NOT NULL AND r.parent IN (SELECT id FROM run WHERE session = ?1)
       AND substr(s.id, 1, length(?1) + 1) = ?1 || '.'`,
    )
    .all(session)
    .map((row) => String(row['id']))
  return tasks.flatMap((task) => {
    const id = `${to}${task.slice(session.length)}`
    return isSessionId(id) && find(db, id, 'exact').kind === 'none' ? moveTo(db, task, id).sessions : []
  })
}

function rename(db: Database, from: string, to: string): void {
  for (const [table, column] of NAMING) db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${column} = ?`).run(to, from)
  db.prepare(`UPDATE message SET sender = json_set(sender, '$.session', ?) WHERE json_extract(sender, '$.session') = ?`).run(to, from)
}

/** Everything that names a session. */
const NAMING = [
  ['session', 'id'],
  ['session', 'went_to'],
  ['run', 'session'],
  ['alias', 'session'],
  ['lock', 'session'],
  ['event', 'session'],
  ['delivery', 'reader'],
] as const

/** For one that cannot have the id which it had. */
export function freeId(db: Database, id: string): string {
  for (let number = 1; ; number++) {
    const candidate = `${id.slice(0, 110)}.before-${number}`
    if (find(db, candidate, 'exact').kind === 'none') return candidate
  }
}
