import type { ForgetAnswer, ForgetRequest, RenameAnswer, RenameRequest } from '../../model/index.ts'
import { OPEN_REQUEST_STATES } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { recordEvent } from './events.ts'
import { find } from './reads.ts'
import { moveTo } from './rename-session.ts'
import { LIVE } from './rows.ts'

const OPEN = OPEN_REQUEST_STATES.map((state) => `'${state}'`).join(', ')
const isAt = (db: Database, session: string, epoch: number): boolean =>
  db.prepare(`SELECT 1 FROM session WHERE id = ? AND epoch = ?`).get(session, epoch) !== undefined

/** The row, its aliases, runs, events and mail. Runs that began since it was looked at have another epoch. */
export function forgetSession(db: Database, { session, epoch, runs }: ForgetRequest): ForgetAnswer {
  const own = db.prepare(`SELECT id FROM run WHERE session = ?`).all(session)
  const isOther = own.some(({ id }) => !runs.includes(String(id)))
  const isLive = db.prepare(`SELECT 1 FROM run WHERE session = ? AND state IN (${LIVE})`).get(session) !== undefined
  if (!isAt(db, session, epoch) || isOther || isLive) return { kind: 'lost' }
  const held = `SELECT 1 FROM lock WHERE session = ?1 OR run IN (SELECT id FROM run WHERE session = ?1)`
  if (db.prepare(held).get(session) !== undefined) return { kind: 'held' }
  const wanted = db.prepare(`SELECT id FROM request WHERE session = ? AND state IN (${OPEN})`).get(session)
  if (wanted !== undefined) return { kind: 'wanted', request: String(wanted['id']) }
  db.prepare(`DELETE FROM said WHERE run IN (SELECT id FROM run WHERE session = ?)`).run(session)
  for (const [table, column] of OF_SESSION) db.prepare(`DELETE FROM ${table} WHERE ${column} = ?`).run(session)
  db.prepare(`UPDATE session SET went_to = NULL WHERE went_to = ?`).run(session)
  db.prepare(`DELETE FROM session WHERE id = ?`).run(session)
  return { kind: 'forgotten' }
}
const OF_SESSION = [
  ['event', 'session'],
  ['delivery', 'reader'],
  ['alias', 'session'],
  ['run', 'session'],
] as const

export function renameSession(db: Database, { session, epoch, to, freeOld, how, at }: RenameRequest): RenameAnswer {
  if (!isAt(db, session, epoch)) return { kind: 'lost' }
  const other = find(db, to, 'exact')
  if (other.kind === 'found' && other.view.session.id !== session) return { kind: 'taken', by: other.view }
  const before = db.prepare(`SELECT name, native FROM session WHERE id = ?`).get(session)
  const moved = session === to ? [] : moveTo(db, session, to).sessions
  // The id of its conversation still finds it.
  const free = db.prepare(`DELETE FROM alias WHERE alias = ?1 AND session = ?2 AND alias <> ?2 AND alias IS NOT ?3`)
  const native = before?.['native'] == null ? null : String(before['native'])
  if (freeOld) for (const old of [session, before?.['name'] ?? null]) if (old !== null) free.run(String(old), to, native)
  db.prepare(`UPDATE session SET name = ? WHERE id = ?`).run(to, to)
  db.prepare(`INSERT INTO alias (alias, session) VALUES (?1, ?1) ON CONFLICT DO NOTHING`).run(to)
  const run = db.prepare(`SELECT r.id, r.epoch FROM run r JOIN session s ON s.id = r.session AND s.epoch = r.epoch WHERE s.id = ?`).get(to)
  if (run !== undefined && moved.length > 0)
    recordEvent(db, { id: String(run['id']), session: to, epoch: Number(run['epoch']) }, 'rebound', { from: session, to, how }, at)
  return { kind: 'renamed', moved }
}
