import { existsSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { createFile } from '../../lib/index.ts'
import { Problem, type ProblemId } from '../../model/index.ts'
import { type Database, loadSqlite } from '../driver.ts'
import { otherThanDatabase } from '../plain-files.ts'
import { type Borrowed, borrow, letGo } from './connection-pool.ts'
import { APPLICATION_ID, MIGRATIONS } from './schema.ts'

/** SQLite's own patience for one try of a writer; ours, with jitter, comes on top. */
export const TRY_MS = 100

/** Opens the store's file and brings it to our schema. Never writes over what it could not read. */
export function openDatabase(path: string, tryMs: number): Borrowed {
  try {
    refuseStranger(path)
    make(path)
    return borrow(path, (database) => {
      database.exec(`PRAGMA busy_timeout = ${tryMs}; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;`)
      migrate(database, path)
    })
  } catch (error) {
    throw error instanceof Problem ? error : storeProblem(error, path)
  }
}

/**
 * What is no SQLite database is left exactly as it is, whatever lies beside it. SQLite itself reads it, alone and as one that nobody changes: a
 * descriptor of our own would, once closed, take the locks of all connections of this process with it, and others would remove the WAL under them.
 */
function refuseStranger(path: string): void {
  const other = otherThanDatabase(path)
  if (other !== null) {
    letGo(path)
    throw new Problem('store-not-sqlite', `the store ${path} cannot be used: ${other.path} ${other.why}; it was left as it is`, {
      hint: `running agents can still be seen and stopped from their run directories; move ${other.path} away to go on`,
    })
  }
  if (!existsSync(path) || isDatabase(path)) return
  letGo(path)
  throw new Problem('store-not-sqlite', `the store ${path} is not a SQLite database; it was left as it is`, {
    hint: 'move it away to begin with an empty store',
  })
}

function isDatabase(path: string): boolean {
  // SQLite takes a single byte for nothing.
  if (statSync(path, { throwIfNoEntry: false })?.size === 1) return false
  const { DatabaseSync } = loadSqlite()
  let database: Database | null = null
  try {
    database = new DatabaseSync(`${pathToFileURL(path).href}?mode=ro&immutable=1`, { readOnly: true })
    database.exec('PRAGMA user_version')
    return true
  } catch (error) {
    // All else is told by who opens it for good: only half of a store may be seen in this way.
    return sqliteCode(error) !== NOT_A_DATABASE
  } finally {
    database?.close()
  }
}

/** Private from creation; its WAL and shared memory take the same mode. Never one that is there: see above. */
function make(path: string): void {
  if (existsSync(path)) return
  try {
    createFile(path, '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function migrate(database: Database, path: string): void {
  if (versionOf(database) === MIGRATIONS.length && applicationOf(database) === APPLICATION_ID) return
  refuseOtherSchema(database, versionOf(database), path)
  if (versionOf(database) === 0) database.exec('PRAGMA journal_mode = WAL')
  database.exec('BEGIN IMMEDIATE')
  try {
    // Somebody else may have migrated while we waited for the lock: look again inside it.
    const from = versionOf(database)
    refuseOtherSchema(database, from, path)
    for (const sql of MIGRATIONS.slice(from)) database.exec(sql)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`)
  } catch (error) {
    try {
      database.exec('ROLLBACK')
    } catch {
      // The failed statement may have rolled back already.
    }
    throw error
  }
}

function refuseOtherSchema(database: Database, version: number, path: string): void {
  if (version > MIGRATIONS.length) {
    throw new Problem('store-newer', `the store ${path} has format ${version}, this Holdfast knows ${MIGRATIONS.length}`, {
      hint: 'use the newer Holdfast that wrote it',
      detail: { storeFormat: version },
    })
  }
  const tables = Number(database.prepare('SELECT count(*) AS n FROM sqlite_schema').get()?.['n'] ?? 0)
  const ours = applicationOf(database) === APPLICATION_ID || (version === 0 && tables === 0)
  if (!ours)
    throw new Problem('store-foreign', `${path} is a database, but not one of Holdfast's; it was left as it is`, {
      hint: 'choose another home with --home or HOLDFAST_HOME',
    })
}

const versionOf = (database: Database): number => Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
const applicationOf = (database: Database): number => Number(database.prepare('PRAGMA application_id').get()?.['application_id'] ?? 0)

/** Primary result codes that are the world's doing, with SQLite's own words for them; any other error is a bug of ours. */
const CODES: Readonly<Record<number, { id: ProblemId; why: string; words: string }>> = {
  5: { id: 'store-busy', why: 'it is busy', words: 'database is locked' },
  8: { id: 'store-unusable', why: 'it is read-only', words: 'attempt to write a readonly database' },
  10: { id: 'store-unusable', why: 'the disk gave an error', words: 'disk I/O error' },
  11: { id: 'store-damaged', why: 'the file is damaged', words: 'database disk image is malformed' },
  13: { id: 'store-full', why: 'the disk is full', words: 'database or disk is full' },
  14: { id: 'store-unusable', why: 'it cannot be opened', words: 'unable to open database file' },
  26: { id: 'store-not-sqlite', why: 'it is not a database', words: 'file is not a database' },
}
export const BUSY = 5
export const DAMAGED = 11
export const NOT_A_DATABASE = 26

/** 0 when it is none of the above. The prebuilt package leaves the number out of errors of `all()`, so the words must do. */
export function sqliteCode(error: unknown): number {
  const { errcode, message } = error as { errcode?: number; message?: string }
  const code = (errcode ?? 0) & 255
  if (CODES[code] !== undefined) return code
  return Number(Object.entries(CODES).find(([, { words }]) => message === words)?.[0] ?? 0)
}

export function storeProblem(error: unknown, path: string): Problem {
  const code = sqliteCode(error)
  const why = CODES[code]?.why ?? (error as Error).message
  const hint =
    code === DAMAGED || code === NOT_A_DATABASE
      ? 'nothing was changed; running agents can still be seen and stopped from their run directories; move the file away to begin anew'
      : code === BUSY
        ? 'another command holds it; try again'
        : 'free space or make it writable; running agents can still be stopped'
  return new Problem(CODES[code]?.id ?? 'store-unusable', `the store ${path} cannot be used: ${why}`, { hint, cause: error })
}
