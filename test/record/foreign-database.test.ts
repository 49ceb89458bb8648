import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Database, loadSqlite } from '../../src/record/driver.ts'
import { readForeignDatabase } from '../../src/record/index.ts'
import { verifies } from '../requirements.ts'

let folder = ''
let open: Database[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-foreign-'))
})
afterEach(() => {
  for (const database of open) database.close()
  open = []
  rmSync(folder, { recursive: true, force: true })
})

const { DatabaseSync } = loadSqlite()
const theirs = (path: string, journal: 'wal' | 'delete'): Database => {
  const database = new DatabaseSync(path)
  open.push(database)
  database.exec(`PRAGMA journal_mode=${journal}; CREATE TABLE IF NOT EXISTS t (x TEXT); INSERT INTO t VALUES ('a')`)
  return database
}
const leave = (database: Database): void => {
  database.close()
  open = open.filter((other) => other !== database)
}
const read = (path: string): string[] | null => readForeignDatabase(path, 'SELECT x FROM t WHERE x >= ?', ['a'])?.map(({ x }) => String(x)) ?? null
const filesIn = (inside: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(inside)
      .filter((name) => !name.endsWith('-shm'))
      .map((name) => [name, readFileSync(join(inside, name), 'base64')]),
  )

test.each(['wal', 'delete'] as const)('one that nobody has open (%s) is read, and nothing is made or changed beside it', (journal) => {
  const path = join(folder, 'a %?#.db')
  leave(theirs(path, journal))
  const before = filesIn(folder)
  expect(readdirSync(folder)).toEqual(['a %?#.db'])
  expect(read(path)).toEqual(['a'])
  expect(filesIn(folder)).toEqual(before)
  expect(readdirSync(folder)).toEqual(['a %?#.db'])
})

test('one that is written to is read with what lies only in its WAL, and its writer goes on', () => {
  const path = join(folder, 'a.db')
  const writer = theirs(path, 'wal')
  const before = filesIn(folder)
  expect(read(path)).toEqual(['a'])
  expect(filesIn(folder)).toEqual(before)
  writer.exec("BEGIN IMMEDIATE; INSERT INTO t VALUES ('b')")
  expect(read(path)).toEqual(['a'])
  writer.exec('COMMIT')
  expect(read(path)).toEqual(['a', 'b'])
})

test('what its writer left behind when it was killed stays as it is', () => {
  const path = join(folder, 'a.db')
  theirs(path, 'wal')
  const left = join(folder, 'left')
  mkdirSync(left)
  for (const end of ['', '-wal', '-shm']) copyFileSync(path + end, join(left, `a.db${end}`))
  const before = filesIn(left)
  expect(read(join(left, 'a.db'))).toEqual(['a'])
  expect(filesIn(left)).toEqual(before)
})

test('a WAL without its index is unknown: reading it would make one', () => {
  const path = join(folder, 'a.db')
  theirs(path, 'wal')
  const left = join(folder, 'left')
  mkdirSync(left)
  for (const end of ['', '-wal']) copyFileSync(path + end, join(left, `a.db${end}`))
  expect(read(join(left, 'a.db'))).toBeNull()
  expect(readdirSync(left)).toEqual(['a.db', 'a.db-wal'])
})

test('one with a journal is in the middle of something: unknown', () => {
  const path = join(folder, 'a.db')
  const writer = theirs(path, 'delete')
  writer.exec("PRAGMA cache_spill = 1; BEGIN EXCLUSIVE; INSERT INTO t VALUES ('b')")
  expect(readdirSync(folder)).toContain('a.db-journal')
  expect(read(path)).toBeNull()
  writer.exec('ROLLBACK')
  expect(read(path)).toEqual(['a'])
})

verifies('unknown', 'nothing there, no database, no such table, no file: unknown, and nothing is made', () => {
  expect(read(join(folder, 'none.db'))).toBeNull()
  writeFileSync(join(folder, 'text.db'), 'no database at all, but some text that is long enough to be looked at')
  expect(read(join(folder, 'text.db'))).toBeNull()
  writeFileSync(join(folder, 'empty.db'), '')
  expect(read(join(folder, 'empty.db'))).toBeNull()
  mkdirSync(join(folder, 'folder.db'))
  expect(read(join(folder, 'folder.db'))).toBeNull()
  execFileSync('mkfifo', [join(folder, 'pipe.db')])
  expect(read(join(folder, 'pipe.db'))).toBeNull()
  symlinkSync('/dev/zero', join(folder, 'zero.db'))
  expect(read(join(folder, 'zero.db'))).toBeNull()
  expect(readdirSync(folder)).toEqual(['empty.db', 'folder.db', 'pipe.db', 'text.db', 'zero.db'])
})

test('nothing can be written through it', () => {
  const path = join(folder, 'a.db')
  leave(theirs(path, 'wal'))
  expect(readForeignDatabase(path, "INSERT INTO t VALUES ('b')", [])).toBeNull()
  expect(read(path)).toEqual(['a'])
})
