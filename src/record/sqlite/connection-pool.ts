import { lstatSync } from 'node:fs'
import { Problem, policy } from '../../model/index.ts'
import { type Database, loadSqlite, type Statement } from '../driver.ts'

type Connection = Database & { readonly path: string; files: string | null }

/** `isStill`: are the files that it has open those that others find there? */
export type Borrowed = Database & { isStill(): boolean }

/** Those that nobody uses, the newest last. */
const idle: Connection[] = []

/**
 * A connection to the store, made ready. SQLite frees one only with the last of its statements, and the prebuilt package frees those only as
 * garbage: what is closed would stay open, with its descriptors and locks, for as long as that takes. So one that is given back is lent again, as
 * long as the files that it has open are those that others find there.
 */
export function borrow(path: string, prepare: (database: Database) => void): Borrowed {
  refuseOverwritten(path)
  const connection = takeIdle(path) ?? connect(path)
  try {
    prepare(connection)
  } catch (error) {
    giveBack(connection)
    throw error
  }
  connection.files ??= filesAt(path)
  let isMine = true
  const mine = (): Connection => {
    if (!isMine) throw new Error('the store is closed')
    return connection
  }
  return {
    exec: (sql) => mine().exec(sql),
    prepare: (sql) => mine().prepare(sql),
    isStill: () => connection.files === null || connection.files === filesAt(path),
    close() {
      if (!isMine) return
      isMine = false
      giveBack(connection)
    },
  }
}

/** For good. */
const left: Connection[] = []

/**
 * Nothing is lent again of what is idle now, since something else was written into its file. It is not closed either: the last one that is closed
 * writes its WAL over whatever lies there. The end of the process closes it without that.
 */
export function letGo(path: string): void {
  for (const one of idle.filter((kept) => kept.path === path)) left.push(...idle.splice(idle.indexOf(one), 1))
}

function takeIdle(path: string): Connection | null {
  const now = filesAt(path)
  for (const one of idle.filter((kept) => kept.path === path)) if (one.files !== now) discard(one)
  const found = idle.find((kept) => kept.path === path) ?? null
  if (found !== null) idle.splice(idle.indexOf(found), 1)
  return found
}

function giveBack(connection: Connection): void {
  idle.push(connection)
  if (connection.files === null || connection.files !== filesAt(connection.path)) discard(connection)
  else if (idle.length > policy.storesIdle) discard(idle[0] as Connection)
}

function discard(connection: Connection): void {
  idle.splice(idle.indexOf(connection), 1)
  if (isOverwritten(connection)) overwritten.push(connection)
  else connection.close()
}

/** For good, too. */
const overwritten: Connection[] = []

/** SQLite has one index of the WAL for a file and process: a new connection would share that of the store which is no more. */
function refuseOverwritten(path: string): void {
  for (const one of idle.filter((kept) => kept.path === path && isOverwritten(kept))) discard(one)
  const now = fileAt(path)
  if (now !== null && overwritten.some(({ files }) => files?.split(' ')[0] === now))
    throw new Problem('store-replaced', `another store was written into ${path} while this process had it open`, {
      hint: 'start this process anew; for the daemon: holdfast daemon stop, then start',
    })
}

/** The same file, but another WAL: somebody wrote another store into it, and closing would write our WAL over that. */
function isOverwritten({ path, files }: Connection): boolean {
  const [main, ...beside] = (files ?? '').split(' ')
  return files !== null && fileAt(path) === main && beside.some((file, index) => fileAt(path + BESIDE[index]) !== file)
}

/** Statements are compiled once. Each of ours runs to its end before the next begins, so none is ever used twice at a time. */
function connect(path: string): Connection {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  const known = new Map<string, Statement>()
  return {
    path,
    files: null,
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = known.get(sql) ?? database.prepare(sql)
      known.set(sql, statement)
      return statement
    },
    close() {
      known.clear()
      database.close()
    },
  }
}

/** Which files are the store; null: not all of them are there, or they cannot be looked at. */
function filesAt(path: string): string | null {
  const found = ['', ...BESIDE].map((end) => fileAt(path + end))
  return found.includes(null) ? null : found.join(' ')
}

const BESIDE = ['-wal', '-shm'] as const

function fileAt(path: string): string | null {
  try {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? null : `${found.dev}:${found.ino}`
  } catch {
    return null
  }
}
