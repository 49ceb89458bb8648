import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { realClock } from '../../src/app/world/clock.ts'
import type { Store } from '../../src/model/index.ts'
import { lookAlone, openSqliteStore, takeAlone } from '../../src/record/index.ts'
import { verifies } from '../requirements.ts'

let folder = ''
let path = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hf-locks-')))
  path = join(folder, 'holdfast.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = (): Promise<Store> => openSqliteStore({ path, clock: realClock, patienceMs: 5000, writePatienceMs: 5000, backoff: () => 5 })
const count = async (store: Store): Promise<number> => (await store.events.list({ session: null, after: 0, limit: 100 })).length

/** What another process sees, which comes and goes: whoever closes a store last removes its WAL. */
const COUNT = `const { DatabaseSync } = require('@photostructure/sqlite'); const db = new DatabaseSync(process.argv[1])
console.log(db.prepare('SELECT count(*) AS n FROM event').get().n); db.close()`
const countElsewhere = (): number => Number(spawnSync(process.execPath, ['-e', COUNT, path], { encoding: 'utf8' }).stdout)

const locksOfOurs = (): number => {
  const { ino } = statSync(path)
  return readFileSync('/proc/locks', 'latin1')
    .split('\n')
    .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `)).length
}
const openOfOurs = (): string[] =>
  readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        return ''
      }
    })
    .filter((file) => file.startsWith(folder))

verifies(
  'one-owner',
  'a second store in this process, or one that is refused, takes no lock of the first with it, and nothing written is lost',
  async () => {
    const first = await open()
    await first.events.recordDaemon({ what: 'one' }, 1)
    expect(locksOfOurs()).toBe(1)
    const second = await open()
    expect(await count(second)).toBe(1)
    expect(locksOfOurs()).toBe(1)
    second.close()
    expect(locksOfOurs()).toBe(1)
    expect(countElsewhere()).toBe(1)
    expect(openOfOurs().filter((file) => file.endsWith('(deleted)'))).toEqual([])
    await first.events.recordDaemon({ what: 'two' }, 2)
    expect(countElsewhere()).toBe(2)
    first.close()
    expect(countElsewhere()).toBe(2)
  },
)

verifies('bounded', 'however often it is opened and closed, or looked at, a few descriptors are open', async () => {
  for (let times = 0; times < 20; times++) {
    const store = await open()
    expect(await count(store)).toBe(times)
    await store.events.recordDaemon({ what: 'one' }, 1)
    store.close()
    await expect(count(store)).rejects.toThrow('the store is closed')
  }
  // The store, its WAL and that one's index, and what looked first whether it is one.
  expect(openOfOurs()).toHaveLength(4)
  const lock = join(folder, 'lock.db')
  takeAlone(lock)?.release()
  expect(lookAlone(lock)).toBe('free')
  expect(openOfOurs()).toHaveLength(4)
})

verifies('bounded', 'uses that overlap for ever do not add up', async () => {
  let before = await open()
  for (let times = 0; times < 20; times++) {
    const next = await open()
    expect(await count(next)).toBe(0)
    before.close()
    before = next
  }
  expect(openOfOurs().length).toBeLessThan(8)
  before.close()
})

verifies('visible', 'a store that was replaced is opened anew', async () => {
  const first = await open()
  await first.events.recordDaemon({ what: 'one' }, 1)
  first.close()
  const again = await open()
  expect(await count(again)).toBe(1)
  for (const end of ['', '-wal', '-shm']) renameSync(path + end, `${path}.aside${end}`)
  const other = await open()
  expect(await count(other)).toBe(0)
  again.close()
  other.close()
  for (const end of ['', '-wal', '-shm']) renameSync(`${path}.aside${end}`, path + end)
  const back = await open()
  expect(await count(back)).toBe(1)
  back.close()
})

test('what is no database is left as it is, however short, and whatever lies beside it', async () => {
  const store = await open()
  await store.events.recordDaemon({ what: 'one' }, 1)
  const wal = readFileSync(`${path}-wal`)
  store.close()
  for (const text of ['x', 'these are my notes', `SQLite format 3\0`, 'n'.repeat(100), 'n'.repeat(9_000)]) {
    writeFileSync(path, text)
    // A WAL that is whole would make a database of it.
    writeFileSync(`${path}-wal`, wal)
    await expect(open(), text).rejects.toMatchObject({ id: 'store-not-sqlite', kind: 'unavailable' })
    expect(readFileSync(path, 'latin1')).toBe(text)
    expect(readFileSync(`${path}-wal`).equals(wal)).toBe(true)
  }
})

test('a store whose folder cannot be looked at any more can still be closed', async () => {
  const store = await open()
  renameSync(folder, `${folder}-away`)
  // In its place a file: whoever looks for the store's files gets an error, and not only the word that there are none.
  writeFileSync(folder, '')
  try {
    expect(() => store.close()).not.toThrow()
    expect(() => store.close()).not.toThrow()
  } finally {
    rmSync(folder)
    renameSync(`${folder}-away`, folder)
  }
})
