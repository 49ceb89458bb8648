import { existsSync, ftruncateSync, lstatSync, mkdtempSync, renameSync, type Stats } from 'node:fs'
import { withFile } from '../lib/index.ts'
import { Problem } from '../model/index.ts'
import { type Database, loadSqlite } from './driver.ts'
import { otherThanDatabase } from './plain-files.ts'
import { BUSY, DAMAGED, NOT_A_DATABASE, sqliteCode } from './sqlite/open.ts'

/** What one process alone holds until it ends, however it ends: the kernel sees to that. */
export type Alone = {
  /** Is the file that we hold still the one that others find there? */
  isStill(): boolean
  /** Takes what lies there now, too; false: somebody else has it. */
  retake(): boolean
  release(): void
}

/** As long as it is in here it is not collected, and the kernel does not take its lock back. */
const held = new Set<Database>()

/**
 * An exclusive transaction on an empty database that is never written to. Null: another process has it. Nobody in this process may open
 * the file in any other way from then on: closing it would give the lock away. What is damaged is emptied in place, never replaced: the lock
 * belongs to the inode, and emptying one that somebody else has just taken changes nothing.
 */
export function takeAlone(path: string): Alone | null {
  if (lookAlone(path) === 'held') return null
  mend(path)
  let mine = begin(path)
  if (mine === null) return null
  let known = identityOf(path)
  return {
    isStill: () => identityOf(path) === known,
    retake() {
      if (lookAlone(path) === 'held') return false
      mend(path)
      const next = begin(path)
      if (next === null) return false
      end(mine)
      mine = next
      known = identityOf(path)
      return true
    },
    release() {
      end(mine)
      mine = null
    },
  }
}

/** Does a process hold it? Only looks, and waits for nobody. */
export function lookAlone(path: string): 'free' | 'held' {
  if (!isFile(path)) return 'free'
  const { DatabaseSync } = loadSqlite()
  let database: Database | null = null
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    // Not as a statement of its own: that would keep the file open until it is collected as garbage.
    database.exec('SELECT count(*) FROM sqlite_schema')
    return 'free'
  } catch (error) {
    const code = sqliteCode(error)
    if (code === BUSY) return 'held'
    // Damaged: whoever takes it mends it. Gone since: nobody has it.
    if (code === NOT_A_DATABASE || code === DAMAGED || !existsSync(path)) return 'free'
    throw trouble(path, error)
  } finally {
    database?.close()
  }
}

function begin(path: string): Database | null {
  const { DatabaseSync } = loadSqlite()
  let database: Database | null = null
  try {
    database = new DatabaseSync(path, { timeout: 0 })
    // Its first page would be journalled beside it, although nothing is ever written.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    held.add(database)
    return database
  } catch (error) {
    database?.close()
    if (sqliteCode(error) === BUSY) return null
    throw trouble(path, error)
  }
}

function end(database: Database | null): void {
  if (database === null || !held.delete(database)) return
  database.close()
}

/** Makes it, private from creation, or empties it. */
function mend(path: string): void {
  try {
    const known = lstatSync(path, { throwIfNoEntry: false })
    if (known?.isDirectory() === true) moveAside(path)
    if (known === undefined || known.isDirectory()) withFile(path, 'append', () => {})
    else if (known.isFile() && known.size > 0) withFile(path, 'change', (fd) => ftruncateSync(fd, 0))
  } catch (error) {
    throw trouble(path, error)
  }
}

/** A file that somebody has put there meanwhile cannot be moved onto a folder: only a folder goes. */
const moveAside = (path: string): void => renameSync(path, mkdtempSync(`${path}.aside-`))

/** Whatever else lies there (a pipe, a link) is never opened. */
function isFile(path: string): boolean {
  const known = seen(path)
  if (known === undefined || known.isDirectory()) return false
  if (!known.isFile()) throw new Problem('daemon-lock-unusable', `${path} is not a file, so nobody can hold this home`, { hint: 'move it away' })
  const other = otherThanDatabase(path)
  if (other !== null) throw new Problem('daemon-lock-unusable', `${other.path} ${other.why}, so nobody can hold this home`, { hint: 'move it away' })
  return true
}

function seen(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw trouble(path, error)
  }
}

function identityOf(path: string): string | null {
  const known = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return known === undefined ? null : `${known.dev}:${known.ino}`
}

function trouble(path: string, error: unknown): Problem {
  if (error instanceof Problem) return error
  const { code, message } = error as NodeJS.ErrnoException
  return new Problem(
    'daemon-lock-unusable',
    `whether a daemon holds this home cannot be told: ${path}: ${code === 'ERR_SQLITE_ERROR' ? message : (code ?? message)}`,
    {
      hint: 'make it readable and writable, or move it away',
      cause: error,
    },
  )
}
