import { isLive } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { find } from './reads.ts'

/** The other live session that has this id, as its own or as an alias. */
export function liveOwner(db: Database, session: string, id: string): { session: string } | null {
  const found = find(db, id, 'exact')
  if (found.kind !== 'found' || found.view.session.id === session) return null
  const { run } = found.view
  return run !== null && isLive(run) ? { session: run.session } : null
}

/** One that is over and had this id steps aside, with its history. Answers what it is called from now on. */
export function moveTo(db: Database, session: string, to: string): string | null {
  // Children name their session: they are checked when all of them have moved.
  db.exec('PRAGMA defer_foreign_keys = ON')
  const isTaken = db.prepare(`SELECT 1 FROM session WHERE id = ?`).get(to) !== undefined
  const aside = isTaken ? freeId(db, to) : null
  if (aside !== null) rename(db, to, aside)
  db.prepare(`UPDATE session SET name = NULL WHERE name = ? AND id <> ?`).run(to, session)
  db.prepare(`DELETE FROM alias WHERE alias = ?`).run(to)
  rename(db, session, to)
  db.prepare(`INSERT INTO alias (alias, session) VALUES (?1, ?2) ON CONFLICT (alias) DO UPDATE SET session = ?2`).run(session, to)
  // A session's name is an alias of it, whatever it is called otherwise.
  db.prepare(`INSERT INTO alias (alias, session) SELECT name, id FROM session WHERE id = ? AND name IS NOT NULL ON CONFLICT DO NOTHING`).run(to)
  if (aside !== null) db.prepare(`UPDATE session SET went_to = ? WHERE id = ?`).run(to, aside)
  return aside
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

function freeId(db: Database, id: string): string {
  for (let number = 1; ; number++) {
    const candidate = `${id.slice(0, 110)}.before-${number}`
    if (find(db, candidate, 'exact').kind === 'none') return candidate
  }
}
