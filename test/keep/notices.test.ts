import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { runFiles } from '../../src/keep/index.ts'
import { verifies } from '../requirements.ts'

const home = mkdtempSync(join(tmpdir(), 'hf-notices-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
const files = runFiles(home)
const run = 'r00000000000a'
const folder = files.runRecords.path(run)
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
})
const leave = (topic: string, text: string): void => files.agentInbox.leave(run, { topic, text })
const names = (): string[] => readdirSync(folder)

test('notices add up, of one topic the newest stands, and who takes them has them alone', () => {
  leave('messages', '1 message waits')
  leave('conflict', 'somebody came')
  leave('messages', '2 messages wait')
  expect(files.agentInbox.take(run)).toEqual([
    { topic: 'conflict', text: 'somebody came' },
    { topic: 'messages', text: '2 messages wait' },
  ])
  expect(files.agentInbox.take(run)).toEqual([])
  expect(names()).toEqual([])
})

test('what needs no telling any more is taken back, and leaves no folder that would cost every tool call', () => {
  leave('messages', 'x')
  leave('conflict', 'y')
  files.agentInbox.drop(run, 'messages')
  files.agentInbox.drop(run, 'never there')
  expect(files.agentInbox.take(run)).toEqual([{ topic: 'conflict', text: 'y' }])
  leave('messages', 'x')
  files.agentInbox.drop(run, 'messages')
  expect(names()).toEqual([])
})

verifies('bounded', 'so many topics wait at most, and those that wait are still brought up to date', () => {
  for (let topic = 0; topic < 30; topic++) leave(`t${topic}`, 'x')
  leave('t0', 'newer')
  const taken = files.agentInbox.take(run)
  expect(taken).toHaveLength(8)
  expect(taken).toContainEqual({ topic: 't0', text: 'newer' })
  expect(names()).toEqual([])
})

verifies('bounded', 'that messages wait always finds room: what was left first makes it', () => {
  for (let topic = 0; topic < 8; topic++) {
    leave(`t${topic}`, 'x')
    utimesSync(join(folder, 'notice', `t${topic}`), 1000, 1000 - (topic === 5 ? 1 : 0))
  }
  leave('messages', '1 message waits')
  leave('one more', 'x')
  const taken = files.agentInbox.take(run)
  expect(taken.map(({ topic }) => topic)).toEqual(['messages', 't0', 't1', 't2', 't3', 't4', 't6', 't7'])
  expect(taken).toContainEqual({ topic: 'messages', text: '1 message waits' })
})

test('what one with the same pid left when it died in the middle hinders nobody', () => {
  const left = join(folder, `notice.${process.pid}`)
  mkdirSync(left)
  writeFileSync(join(left, 'old'), 'told by the dead')
  leave('messages', '1 message waits')
  expect(files.agentInbox.take(run)).toEqual([{ topic: 'messages', text: '1 message waits' }])
  expect(names()).toEqual([])
})

verifies('private', 'notices and what was told are for nobody else', () => {
  leave('messages', 'x')
  files.agentInbox.recordTold(run, 0, '{}')
  expect(statSync(join(folder, 'notice')).mode & 0o777).toBe(0o700)
  for (const path of ['notice/messages', 'aware.1']) expect(statSync(join(folder, path)).mode & 0o777, path).toBe(0o600)
})

test('without a directory, or with something else in its place, nothing fails', () => {
  const gone = 'r00000000000b'
  files.agentInbox.leave(gone, { topic: 'x', text: 'y' })
  expect([files.agentInbox.take(gone), files.agentInbox.told(gone), files.agentInbox.recordTold(gone, 0, '{}')]).toEqual([
    [],
    { version: 0, text: null },
    false,
  ])
  writeFileSync(join(folder, 'notice'), 'as an older Holdfast left it\n')
  leave('messages', 'x')
  expect(names()).toEqual(['notice'])
})

verifies('epoch', 'of two that saw the same version one replaces it, and the other sees what it did', () => {
  expect(files.agentInbox.told(run)).toEqual({ version: 0, text: null })
  expect([files.agentInbox.recordTold(run, 0, 'first'), files.agentInbox.recordTold(run, 0, 'late')]).toEqual([true, false])
  expect(files.agentInbox.told(run)).toEqual({ version: 1, text: 'first' })
  expect(files.agentInbox.recordTold(run, 1, 'second')).toBe(true)
  expect(files.agentInbox.told(run)).toEqual({ version: 2, text: 'second' })
})

verifies('bounded', 'what was replaced is forgotten in time, and who was asleep that long still loses', () => {
  for (let version = 0; version < 200; version++) expect(files.agentInbox.recordTold(run, version, `${version + 1}`)).toBe(true)
  expect(names().length).toBeLessThanOrEqual(17)
  for (const seen of [0, 5, 150, 183, 184, 198, 199]) expect(files.agentInbox.recordTold(run, seen, 'from the past'), `${seen}`).toBe(false)
  expect(files.agentInbox.told(run)).toEqual({ version: 200, text: '200' })
  expect(names().length).toBeLessThanOrEqual(17)
})

test('what only a living agent needs is litter when it is over', () => {
  files.agentInbox.recordTold(run, 0, '{}')
  leave('messages', 'x')
  mkdirSync(join(folder, 'notice.123'))
  for (const name of ['notice.left.7', 'aware.left.7']) writeFileSync(join(folder, name), '')
  expect(files.runRecords.litter(run).toSorted()).toEqual(['aware.1', 'aware.left.7', 'notice', 'notice.123', 'notice.left.7'])
  files.runRecords.tidy(run)
  expect(names()).toEqual([])
})
