import { describe, expect, test } from 'vitest'
import { presenceOf } from '../../src/decide/index.ts'
import type { DaemonLook } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { alive, daemonRecord, gone, unknown } from './build.ts'

const record = daemonRecord()
const other = { pid: 11, ticks: 110 }
const look = (over: Partial<DaemonLook>): DaemonLook => ({
  lock: 'free',
  holder: null,
  record: null,
  fact: null,
  hasLockFileOpen: false,
  remains: [],
  ...over,
})

describe('nobody holds the home', () => {
  test('and nothing lies there', () => expect(presenceOf(look({}))).toEqual({ kind: 'none' }))
  test('but something was left', () => {
    expect(presenceOf(look({ remains: ['sock'] }))).toEqual({ kind: 'dead', record: null, remains: ['sock'] })
    expect(presenceOf(look({ record, fact: gone(), remains: ['daemon.json'] })).kind).toBe('dead')
  })
  verifies('identity', 'a living stranger on record, or one that cannot be judged, is no daemon without the lock', () => {
    expect(presenceOf(look({ record, fact: alive })).kind).toBe('dead')
    expect(presenceOf(look({ record, fact: unknown() })).kind).toBe('dead')
  })
  verifies('one-owner', 'one whose lock file was taken away is one all the same', () => {
    expect(presenceOf(look({ record, fact: alive, hasLockFileOpen: true }))).toEqual({
      kind: 'alive',
      process: record.process,
      frozen: false,
      record,
    })
  })
})

describe('somebody holds it', () => {
  test('who is on record', () => {
    for (const frozen of [true, false])
      expect(presenceOf(look({ lock: 'held', holder: record.process, record, fact: { kind: 'alive', frozen } }))).toEqual({
        kind: 'alive',
        process: record.process,
        frozen,
        record,
      })
  })
  test('whom the kernel names, and not the record of a dead one', () => {
    for (const stale of [null, record])
      expect(presenceOf(look({ lock: 'held', holder: other, record: stale, fact: stale && gone() }))).toEqual({
        kind: 'alive',
        process: other,
        frozen: false,
        record: null,
      })
    // The same pid, but another process.
    expect(presenceOf(look({ lock: 'held', holder: { ...record.process, ticks: 5 }, record, fact: alive }))).toMatchObject({ record: null })
  })
  verifies('unknown', 'whom nobody can see from here is neither dead nor to be signalled', () => {
    expect(presenceOf(look({ lock: 'held', record, fact: unknown('another pid namespace') }))).toEqual({
      kind: 'unseen',
      record,
      why: 'another pid namespace',
    })
    expect(presenceOf(look({ lock: 'held', record, fact: gone() })).kind).toBe('unseen')
    expect(presenceOf(look({ lock: 'held' })).kind).toBe('unseen')
  })
})
