import { realpathSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { loadSqlite, type Row } from './driver.ts'
import { otherThanDatabase } from './plain-files.ts'

/** Its owner comes first: we rather know nothing this time. */
const BUSY_MS = 200

/**
 * Rows of another program's SQLite file; null: it cannot be read now. Nothing is written, and no file is made beside it:
 * with a WAL and its index there, both are used as they are. Without them SQLite would make them even for a reader, so the file is
 * then read as one that nobody changes, and what was read counts only if nobody did.
 */
export function readForeignDatabase(path: string, sql: string, values: readonly string[]): Row[] | null {
  try {
    const file = realpathSync(path)
    const before = lookOf(file)
    if (before === null) return null
    const hasWal = (before.wal ?? 0) > 0
    if (hasWal) return before.index ? rowsOf(file, sql, values) : null
    const rows = rowsOf(`${pathToFileURL(file).href}?mode=ro&immutable=1`, sql, values)
    return JSON.stringify(lookOf(file)) === JSON.stringify(before) && !before.journal ? rows : null
  } catch {
    // Whatever is wrong with another program's file (gone, busy, of another version, damaged), it tells us nothing.
    return null
  }
}

type Look = { readonly size: number; readonly changedMs: number; readonly wal: number | null; readonly index: boolean; readonly journal: boolean }

/** The file and what lies beside it; null: it is no file. A pipe or a device is never opened. */
function lookOf(file: string): Look | null {
  const stats = statSync(file)
  if (!stats.isFile() || /^\/(?:proc|dev|sys)\//.test(file) || otherThanDatabase(file) !== null) return null
  return {
    size: stats.size,
    changedMs: stats.mtimeMs,
    wal: sizeOf(`${file}-wal`),
    index: sizeOf(`${file}-shm`) !== null,
    journal: (sizeOf(`${file}-journal`) ?? 0) > 0,
  }
}

const sizeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.size ?? null

function rowsOf(location: string, sql: string, values: readonly string[]): Row[] {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(location, { readOnly: true, timeout: BUSY_MS })
  try {
    return database.prepare(sql).all(...values)
  } finally {
    database.close()
  }
}
