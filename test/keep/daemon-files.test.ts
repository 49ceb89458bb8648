import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { daemonFiles } from '../../src/keep/index.ts'
import type { DaemonFiles } from '../../src/model/index.ts'
import { policy } from '../../src/model/index.ts'
import { daemonRecord, NOW } from '../decide/build.ts'
import { verifies } from '../requirements.ts'

let home = ''
let files: DaemonFiles
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hf-daemon-'))
  files = daemonFiles(home)
  files.make()
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const record = daemonRecord()

verifies('private', 'the folder and all that is in it are private from creation, and made private again', () => {
  files.writeRecord(record)
  files.writeHealth({ at: NOW, healthy: true, why: null, parts: [] })
  files.tell('hello', NOW)
  for (const name of ['daemon.json', 'health.json', 'log']) expect(statSync(join(files.folder, name)).mode & 0o777, name).toBe(0o600)
  chmodSync(files.folder, 0o755)
  files.make()
  expect(statSync(files.folder).mode & 0o777).toBe(0o700)
  rmSync(files.folder, { recursive: true })
  writeFileSync(files.folder, '')
  expect(() => files.make()).toThrow(/cannot be made, or made private: it is not a folder/)
})

const event = { seq: 6, at: NOW, kind: 'ended', session: 's', run: 'r', epoch: 1, detail: {} } as const
const later = { event, kind: 'finished', count: 2 } as const
const notified = { seq: 7, at: NOW, history: { told: [{ at: NOW, session: 's', kind: 'finished' }], later: [later], held: 3 } } as const

test('how far people were told comes back as it was written, and anything else is nothing', () => {
  expect(files.notified()).toBeNull()
  files.writeNotified(notified)
  expect(files.notified()).toEqual(notified)
  for (const text of ['', '1 7\n', 'null', '[]', '{"seq":7}', JSON.stringify({ ...notified, seq: null }), JSON.stringify({ ...notified, at: 'x' })]) {
    writeFileSync(join(files.folder, 'notified'), text)
    expect(files.notified(), text).toBeNull()
  }
})

test('of what was told and waits, only what makes no sense is dropped: how far it was told stays', () => {
  const { history } = notified
  const rows: [object, object][] = [
    [{ told: [null, 1, { at: 'x' }, { at: NOW, session: 's', kind: 'other' }, ...history.told] }, {}],
    [{ told: 1 }, { told: [] }],
    [{ later: {} }, { later: [] }],
    [{ later: [null, { count: 1 }, later] }, {}],
    ...[null, [], 'x', undefined].map((detail): [object, object] => [{ later: [{ ...later, event: { ...event, detail } }, later] }, {}]),
    ...['other', 'more', 'toString', null].map((kind): [object, object] => [{ later: [later, { ...later, kind }] }, {}]),
    ...[0, -1, 1.5, '1', null].map((count): [object, object] => [{ later: [{ ...later, count }] }, { later: [] }]),
    [{ later: [{ ...later, event: { ...event, run: 7 } }] }, { later: [] }],
    ...['1', -1, null].map((held): [object, object] => [{ held }, { held: 0 }]),
  ]
  for (const [wrong, left] of rows) {
    const text = JSON.stringify({ ...notified, history: { ...history, ...wrong } })
    writeFileSync(join(files.folder, 'notified'), text)
    expect(files.notified(), text).toEqual({ ...notified, history: { ...history, ...left } })
  }
  writeFileSync(join(files.folder, 'notified'), JSON.stringify({ ...notified, history: null }))
  expect(files.notified()).toEqual({ ...notified, history: { told: [], later: [], held: 0 } })
})

test('a record comes back as it was written, and anything else is none', () => {
  files.writeRecord(record)
  expect(files.record()).toEqual(record)
  const path = join(files.folder, 'daemon.json')
  for (const text of [
    '',
    '0',
    'null',
    '[]',
    '{"format":1}',
    '{"format":1,"process":{"pid":1,"ticks":2}}',
    JSON.stringify(record).slice(0, 40),
    JSON.stringify({ ...record, process: { pid: 0, ticks: 1 } }),
    JSON.stringify({ ...record, place: 7 }),
  ]) {
    writeFileSync(path, text)
    expect(files.record(), text).toBeNull()
  }
  rmSync(path)
  mkdirSync(path)
  expect(files.record()).toBeNull()
  files.writeRecord(record)
  expect(files.record()).toEqual(record)
  files.removeRecord()
  expect(files.record()).toBeNull()
})

test('each line has a time and who says it, many lines are one, and nobody is cut off', () => {
  expect(files.tell('one\ntwo\n', NOW)).toBe(true)
  files.tell('three', NOW)
  expect(readFileSync(files.log, 'utf8')).toBe(`2026-01-02T12:00:00.000Z ${process.pid} one\n  two\n2026-01-02T12:00:00.000Z ${process.pid} three\n`)
  expect(files.lastWords(1, 0)).toMatch(/ three$/)
  expect([files.lastWords(2, 0).split('\n').length, files.lastWords(2, files.logSize())]).toEqual([2, ''])
  const fd = openSync(files.log, 'a')
  expect([files.isLog(fd), files.isLog(0)]).toEqual([true, false])
  closeSync(fd)
  rmSync(files.folder, { recursive: true })
  expect([files.tell('nobody hears it', NOW), files.lastWords(1, 0), files.identity()]).toEqual([false, '', null])
})

verifies('bounded', 'the log is capped in place, its end kept beside it', () => {
  appendFileSync(files.log, 'x'.repeat(policy.logCapBytes + 10))
  files.tell('last', NOW)
  expect(statSync(files.log).size).toBe(0)
  expect(readFileSync(`${files.log}.1`, 'latin1')).toMatch(/last\n$/)
})

test('only what a dead one needs no more is taken away', () => {
  for (const name of ['daemon.json', 'daemon.json.12', 'sock', 'sock.12.1', 'health.json', 'health.json.12', 'log', 'lock.db', 'mine'])
    writeFileSync(join(files.folder, name), '')
  expect([...files.remains()].toSorted()).toEqual(['daemon.json', 'daemon.json.12', 'health.json.12', 'sock', 'sock.12.1'])
  files.clear()
  expect(files.remains()).toEqual([])
  expect(readdirSync(files.folder)).not.toContain('health.json')
  for (const name of ['log', 'lock.db', 'mine']) expect(statSync(join(files.folder, name)).isFile()).toBe(true)
})

test('what was half written or moved out of the way is litter, by its name alone, and goes with the rest', () => {
  const uuid = '01234567-89ab-cdef-0123-456789abcdef'
  const left = [`token.12.${uuid}`, 'notified.13', 'port.14', 'sock.aside-15', 'daemon.json.aside-16', 'lock.db.aside-aB3xYz']
  const kept = ['token', 'notified', 'port', 'log', 'lock.db', 'token.old', 'notes.12', 'my.aside-1', `token.${uuid}`]
  for (const name of kept) writeFileSync(join(files.folder, name), '')
  for (const name of left) mkdirSync(join(files.folder, name))
  expect(files.remains()).toEqual([])
  expect(Object.fromEntries(files.litter().map(({ name, writer }) => [name, writer]))).toEqual({
    [left[0] as string]: 12,
    'notified.13': 13,
    'port.14': 14,
    'sock.aside-15': null,
    'daemon.json.aside-16': null,
    'lock.db.aside-aB3xYz': null,
  })
  for (const name of [...kept, '../daemon']) files.removeLitter(name)
  files.removeLitter('notified.13')
  expect(files.litter()).toHaveLength(left.length - 1)
  files.clear()
  expect(readdirSync(files.folder).toSorted()).toEqual(kept.toSorted())
})

test('the port is kept whole, and anything else is none', () => {
  expect(files.port()).toBe(0)
  expect([files.keepPort(40_123), files.port()]).toEqual([true, 40_123])
  expect(statSync(join(files.folder, 'port')).mode & 0o777).toBe(0o600)
  for (const text of ['', '0', '80', '70000', 'x', '4.5']) {
    writeFileSync(join(files.folder, 'port'), text)
    expect(files.port(), text).toBe(0)
  }
})
