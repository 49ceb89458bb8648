import { readForeignDatabase } from '../foreign-database.ts'
import { LIVE } from './rows.ts'

export type SessionName = { readonly id: string; readonly name: string | null; readonly state: string; readonly dir: string }

/** How many sessions a shell is offered, newest first. */
const MOST = 500

/**
 * Sessions by name, for a reader in a hurry. The file is opened for reading only: it is neither made, migrated nor waited for.
 * A store that cannot be read in this way gives no sessions.
 */
export function sessionNames(path: string, which: 'live' | 'all'): SessionName[] {
  const epoch = which === 'live' ? `r.state IN (${LIVE})` : 'r.epoch = s.epoch'
  const sql = `SELECT s.id, s.name, s.dir, r.state FROM session s JOIN run r ON r.session = s.id AND ${epoch} ORDER BY r.started_at DESC LIMIT ${MOST}`
  const rows = readForeignDatabase(path, sql, []) ?? []
  return rows.map((row) => ({
    id: String(row['id']),
    name: row['name'] === null ? null : String(row['name']),
    state: String(row['state']),
    dir: String(row['dir']),
  }))
}
