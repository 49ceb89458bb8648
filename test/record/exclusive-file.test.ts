import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hasOpen, lockHolder } from '../../src/observe/held-file.ts'
import { lookAlone, takeAlone } from '../../src/record/index.ts'
import { verifies } from '../requirements.ts'

let folder = ''
let path = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hf-alone-')))
  path = join(folder, 'lock.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const TAKE = `const { DatabaseSync } = require('@photostructure/sqlite')
try { new DatabaseSync(process.argv[1], { timeout: 0 }).exec('BEGIN EXCLUSIVE'); console.log('taken') } catch (error) { console.log(error.message) }`

/** What another process is told that wants it. */
const elsewhere = (wanted = path): string => spawnSync(process.execPath, ['-e', TAKE, wanted], { encoding: 'utf8' }).stdout.trim()
const REFUSED = 'database is locked'

verifies('one-owner', 'one process holds it, until it lets go or is gone', () => {
  expect(lookAlone(path)).toBe('free')
  const mine = takeAlone(path)
  expect(elsewhere()).toBe(REFUSED)
  expect(takeAlone(path)).toBeNull()
  expect(lookAlone(path)).toBe('held')
  expect(elsewhere()).toBe(REFUSED)
  expect([lockHolder(path), hasOpen(process.pid, path)]).toEqual([process.pid, true])
  mine?.release()
  mine?.release()
  expect([lockHolder(path), hasOpen(process.pid, path)]).toEqual([null, false])
  // The other one took it, and is gone: nothing has to be repaired.
  expect(elsewhere()).toBe('taken')
  expect(lookAlone(path)).toBe('free')
  expect(readdirSync(folder)).toEqual(['lock.db'])
  expect([statSync(path).size, statSync(path).mode & 0o777]).toEqual([0, 0o600])
})

verifies('one-owner', 'nobody has to keep what was taken: collecting garbage frees nothing', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const isTaken = takeAlone(path) !== null
  expect(isTaken).toBe(true)
  for (let round = 0; round < 5; round++) {
    collectGarbage()
    await new Promise((next) => setImmediate(next))
  }
  expect(elsewhere()).toBe(REFUSED)
})

verifies('one-owner', 'what is written into it while it is held frees nobody', () => {
  const mine = takeAlone(path)
  expect(spawnSync('sh', ['-c', 'echo garbage >"$1"', 'sh', path]).status).toBe(0)
  expect(elsewhere()).toBe(REFUSED)
  expect(mine?.isStill()).toBe(true)
  mine?.release()
  takeAlone(path)?.release()
  expect(statSync(path).size).toBe(0)
})

test('a damaged one is emptied in place, a folder is moved aside, and what is neither is not opened', () => {
  for (const text of ['', '0', 'x'.repeat(9_000), `SQLite format 3\0${'x'.repeat(200)}`]) {
    writeFileSync(path, text)
    const { ino } = statSync(path)
    expect(lookAlone(path)).toBe('free')
    const mine = takeAlone(path)
    expect([mine?.isStill(), statSync(path).ino, statSync(path).size]).toEqual([true, ino, 0])
    mine?.release()
  }
  unlinkSync(path)
  mkdirSync(join(path, 'something'), { recursive: true })
  expect(lookAlone(path)).toBe('free')
  takeAlone(path)?.release()
  expect(readdirSync(folder).map((name) => name.replace(/-.*/, ''))).toEqual(['lock.db', 'lock.db.aside'])
  unlinkSync(path)
  symlinkSync('/dev/zero', path)
  expect(() => takeAlone(path)).toThrow(expect.objectContaining({ id: 'daemon-lock-unusable' }))
  expect(() => lookAlone(path)).toThrow(expect.objectContaining({ id: 'daemon-lock-unusable' }))
})

verifies('one-owner', 'a file that was taken away is taken anew, unless somebody else was faster', () => {
  const mine = takeAlone(path)
  unlinkSync(path)
  expect([mine?.isStill(), lookAlone(path)]).toEqual([false, 'free'])
  // It is still known as a holder, by what it has open.
  expect([lockHolder(path), hasOpen(process.pid, path)]).toEqual([null, true])
  expect([mine?.retake(), mine?.isStill(), lookAlone(path)]).toEqual([true, true, 'held'])
  expect(elsewhere()).toBe(REFUSED)
  unlinkSync(path)
  const other = takeAlone(path)
  expect([other !== null, mine?.retake(), mine?.isStill()]).toEqual([true, false, false])
  mine?.release()
  expect(lookAlone(path)).toBe('held')
  other?.release()
})
