import { spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { realClock } from '../../src/app/world/clock.ts'
import type { ProblemId, Store } from '../../src/model/index.ts'
import { isSafe, loadSqlite } from '../../src/record/driver.ts'
import { openSqliteStore } from '../../src/record/index.ts'
import { APPLICATION_ID, MIGRATIONS } from '../../src/record/sqlite/schema.ts'
import { verifies } from '../requirements.ts'
import { activityConformance } from './activity.ts'
import { storeConformance } from './conformance.ts'
import { nativeConformance } from './conversation.ts'
import { eventConformance } from './events.ts'
import { aClaim, anEnding, aRun, type OpenStore } from './examples.ts'
import { lockConformance } from './lock.ts'
import { messageConformance } from './message.ts'
import { rebindConformance } from './rebind.ts'
import { requestConformance } from './requests.ts'
import { sessionNamesConformance } from './session-names.ts'
import { taskConformance } from './tasks.ts'

const root = mkdtempSync(join(tmpdir(), 'hf-store-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let serial = 0
const newPath = (): string => join(root, `${++serial}.db`)
const open = (path: string, writePatienceMs = 5000): Promise<Store> =>
  openSqliteStore({ path, clock: realClock, patienceMs: 5000, writePatienceMs, backoff: () => 5 })

const newStore: OpenStore = async () => {
  const path = newPath()
  const store = await open(path)
  return { store, again: () => open(path), done: async () => store.close() }
}
storeConformance('sqlite', newStore)
taskConformance('sqlite', newStore)
lockConformance('sqlite', newStore)
nativeConformance('sqlite', newStore)
rebindConformance('sqlite', newStore)
sessionNamesConformance('sqlite', newStore)
messageConformance('sqlite', newStore)
activityConformance('sqlite', newStore)
eventConformance('sqlite', newStore)
requestConformance('sqlite', newStore)

test('a store of the first release is brought up to date, and its runs are as they were', async () => {
  const path = newPath()
  const db = new (loadSqlite().DatabaseSync)(path)
  db.exec(`PRAGMA journal_mode = WAL; ${MIGRATIONS[0]}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1`)
  const { containment, task, ...run } = aRun('s', 1)
  db.exec(`INSERT INTO session VALUES ('s', NULL, 1, '/d', '[]', 1)`)
  db.prepare(
    `INSERT INTO run (id, session, epoch, state, place, launcher, keeper, marker, cookie, argv, dir, detached, until, independent, host, user, started_at)
     VALUES (?, 's', 1, 'running', ?, ?, NULL, ?, ?, ?, ?, 1, 'harness', 0, 'here', 'me', ?)`,
  ).run(run.id, JSON.stringify(run.place), JSON.stringify(run.launcher), run.marker, run.cookie, JSON.stringify(run.argv), run.dir, run.startedAt)
  db.exec(`INSERT INTO lock VALUES ('1', '42', '${run.id}', '/d', 's', 1, 'an agent works here', 0)`)
  db.close()
  const store = await open(path)
  const older = { level: 'none', why: 'it was started by an older Holdfast' }
  expect(await store.runs.get(run.id)).toEqual({ ...run, containment: older, task: null, tmux: null, state: 'running', keeper: null })
  expect([containment.level, task]).toEqual(['none', null])
  // A lock that is held across the change is held after it, by whoever held it.
  expect((await store.locks.all([], null)).locks).toEqual([
    {
      seq: 1,
      directory: { path: '/d', key: '1:42', inner: '1@/d', above: [], below: [], repository: null },
      holder: { kind: 'run', launcher: run.launcher, keeper: null, marker: run.marker, cookie: run.cookie, containment: older, adopted: false },
      place: run.place,
      session: 's',
      run: run.id,
      since: 1,
      reason: 'an agent works here',
      shared: [],
      host: 'here',
      user: 'me',
    },
  ])
  store.close()
})

test('the schema is exactly the expected one', async () => {
  const path = newPath()
  ;(await open(path)).close()
  const db = new (loadSqlite().DatabaseSync)(path)
  const schema = db.prepare('SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name').all()
  db.close()
  const text = schema.map(({ type, name, sql }) => `${type} ${name}\n${String(sql).replaceAll(/\s+/g, ' ')}`).join('\n\n')
  await expect(`${text}\n`).toMatchFileSnapshot('schema.snapshot.sql')
})

test('a released migration is never edited', async () => {
  await expect(`${MIGRATIONS.map((sql, index) => `-- ${index + 1}\n${sql.trim()}`).join('\n')}\n`).toMatchFileSnapshot('migrations.snapshot.sql')
})

verifies('private', 'the store is 0600 from creation, whatever the umask', async () => {
  const before = process.umask(0)
  const path = newPath()
  const store = await open(path)
  await store.claims.claim(aClaim(aRun('s')))
  process.umask(before)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777, file).toBe(0o600)
  store.close()
})

test('the builtin is used only where its SQLite is safe', () => {
  expect(['3.51.2', '3.50.9', '2.99.99', '', undefined].map(isSafe)).toEqual([false, false, false, false, false])
  expect(['3.51.3', '3.52.0', '4.0.0'].map(isSafe)).toEqual([true, true, true])
})

test('ten openers of a new store all get the same one', async () => {
  const path = newPath()
  const stores = await Promise.all(Array.from({ length: 10 }, () => open(path)))
  await (stores[0] as Store).claims.claim(aClaim(aRun('s')))
  for (const store of stores) {
    expect((await store.sessions.snapshot('live', 5)).views).toHaveLength(1)
    store.close()
  }
})

test('an opener waits while another process has the new file to itself', async () => {
  const path = newPath()
  const program = `const { DatabaseSync } = require('@photostructure/sqlite'); const db = new DatabaseSync(${JSON.stringify(path)}); db.exec('BEGIN EXCLUSIVE'); console.log('held'); setTimeout(() => { db.exec('COMMIT'); db.close() }, 400)`
  const holder = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = new Promise((resolve) => holder.once('exit', resolve))
  await new Promise((resolve) => holder.stdout.once('data', resolve))
  const store = await open(path)
  expect((await store.sessions.snapshot('all', 5)).views).toEqual([])
  store.close()
  await gone
})

test('who waits for a busy store for a while is told so, once', async () => {
  const path = newPath()
  const store = await open(path)
  await store.claims.claim(aClaim(aRun('s')))
  let told = 0
  const db = new (loadSqlite().DatabaseSync)(path)
  db.exec('BEGIN IMMEDIATE')
  const tell = (): void => {
    // Whoever held it lets it go.
    if (told++ === 0) db.exec('COMMIT')
  }
  const waiting = { afterMs: 30, tell }
  const patient = await openSqliteStore({ path, clock: realClock, patienceMs: 60_000, writePatienceMs: 60_000, backoff: () => 5, waiting })
  expect(await patient.claims.claim(aClaim(aRun('t', 1, { dir: '/elsewhere' }), { seenLock: 1e9 }))).toMatchObject({ kind: 'won' })
  expect(told).toBe(1)
  for (const one of [patient, store, db]) one.close()
})

test('a writer waits for another writer; a reader that records in passing does not', async () => {
  const path = newPath()
  const store = await open(path)
  const run = { ...aRun('s'), state: 'starting' as const, keeper: null }
  await store.claims.claim(aClaim(run))
  const db = new (loadSqlite().DatabaseSync)(path)
  db.exec('BEGIN IMMEDIATE')
  const reader = await open(path, 0)
  const began = performance.now()
  await expect(reader.claims.recordEnded(run, anEnding({ state: 'lost' }), null, 1)).rejects.toMatchObject({ id: 'store-busy', kind: 'unavailable' })
  expect((await reader.sessions.snapshot('live', 5)).views).toHaveLength(1)
  expect(performance.now() - began).toBeLessThan(4500)
  const waiting = store.claims.recordEnded(run, anEnding({ state: 'lost' }), null, 1)
  db.exec('COMMIT')
  db.close()
  expect(await waiting).toBe(true)
  store.close()
  reader.close()
})

const refusals: [string, (path: string) => void, ProblemId][] = [
  ['text instead of a database', (path) => writeFileSync(path, 'these are my notes, please keep them'), 'store-not-sqlite'],
  [
    'another application’s database',
    (path) => {
      const db = new (loadSqlite().DatabaseSync)(path)
      db.exec('CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES (1)')
      db.close()
    },
    'store-foreign',
  ],
  [
    'a newer format',
    (path) => {
      const db = new (loadSqlite().DatabaseSync)(path)
      db.exec('PRAGMA user_version = 99; CREATE TABLE x (y)')
      db.close()
    },
    'store-newer',
  ],
]
for (const [what, make, id] of refusals) {
  verifies('visible', `${what} is refused with a sentence and left as it is`, async () => {
    const path = newPath()
    make(path)
    const before = readFileSync(path)
    await expect(open(path)).rejects.toMatchObject({ id, kind: 'unavailable', message: expect.stringContaining(path) as string })
    expect(readFileSync(path).equals(before)).toBe(true)
  })
}

test('a damaged store is told as damaged, and not written over', async () => {
  const path = newPath()
  const store = await open(path)
  for (let index = 0; index < 50; index++) await store.claims.claim(aClaim(aRun(`s${index}`)))
  store.close()
  const raw = new (loadSqlite().DatabaseSync)(path)
  raw.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  raw.close()
  const bytes = readFileSync(path)
  bytes.fill(0xa5, 4096, bytes.length - 4096)
  writeFileSync(path, bytes)
  const attempt = async (): Promise<void> => {
    const damaged = await open(path)
    try {
      await damaged.sessions.snapshot('all', 100)
    } finally {
      damaged.close()
    }
  }
  await expect(attempt()).rejects.toMatchObject({ id: 'store-damaged', kind: 'unavailable' })
  expect(readFileSync(path).equals(bytes)).toBe(true)
})

test('an empty file is a new store', async () => {
  const path = newPath()
  writeFileSync(path, '')
  const store = await open(path)
  expect((await store.claims.claim(aClaim(aRun('s')))).kind).toBe('won')
  store.close()
})

verifies('visible', 'one bad row is named, and hides no other', async () => {
  const path = newPath()
  const store = await open(path)
  const [good, bad] = [aRun('good'), aRun('bad')]
  for (const run of [good, bad]) await store.claims.claim(aClaim(run))
  const raw = new (loadSqlite().DatabaseSync)(path)
  raw.prepare('UPDATE run SET place = ? WHERE id = ?').run('{', bad.id)
  raw.close()
  const { views, unreadable } = await store.sessions.snapshot('live', 10)
  expect(views.map(({ session }) => session.id)).toEqual(['good'])
  expect(unreadable).toEqual([bad.id])
  await expect(store.runs.get(bad.id)).rejects.toMatchObject({ id: 'run-unreadable', kind: 'unavailable' })
  store.close()
})

verifies('visible', 'a store that another file takes the place of says so, to readers and writers, and nothing of it reaches that file', async () => {
  for (const how of ['renamed', 'written over'] as const) {
    const [path, copy] = [newPath(), newPath()]
    const store = await open(path)
    await store.claims.claim(aClaim(aRun('s')))
    const db = new (loadSqlite().DatabaseSync)(path)
    db.exec(`VACUUM INTO '${copy}'`)
    db.close()
    expect(store.isReplaced()).toBe(false)
    for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
    if (how === 'renamed') renameSync(copy, path)
    else copyFileSync(copy, path)
    expect(store.isReplaced(), how).toBe(true)
    await expect(store.runs.live(9)).rejects.toMatchObject({ id: 'store-replaced', kind: 'unavailable' })
    await expect(store.claims.claim(aClaim(aRun('t')))).rejects.toMatchObject({ id: 'store-replaced' })
    if (how === 'written over') {
      // Whoever had it open cannot use it again; for everybody else it is the store.
      const before = readFileSync(path)
      store.close()
      await expect(open(path)).rejects.toMatchObject({ id: 'store-replaced' })
      expect(readFileSync(path).equals(before)).toBe(true)
      continue
    }
    const now = await open(path)
    store.close()
    expect((await now.runs.live(9)).views.map(({ session }) => session.id)).toEqual(['s'])
    expect(await now.claims.claim(aClaim(aRun('u', 1, { dir: '/u' }), { seenLock: 99 }))).toMatchObject({ kind: 'won' })
    now.close()
    expect((await (await open(path)).runs.live(9)).views).toHaveLength(2)
  }
})
