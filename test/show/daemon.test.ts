import { describe, expect, test } from 'vitest'
import type { DaemonHealth, DaemonStatus } from '../../src/model/index.ts'
import { daemonJson, daemonText, eventsText, isWell, painter, versionText } from '../../src/show/index.ts'
import { daemonRecord, NOW } from '../decide/build.ts'
import { verifies } from '../requirements.ts'

const paint = painter(false)
const record = daemonRecord({ startedAt: NOW - 65_000, startedBy: 'service', http: 'http://127.0.0.1:4000' })
const health = (over: Partial<DaemonHealth> = {}): DaemonHealth => ({
  at: NOW - 12_000,
  healthy: true,
  why: null,
  parts: [
    { name: 'home', lastSuccess: NOW - 3_000, failures: 0, lastError: null, nextTry: NOW + 2_000, counts: {} },
    { name: 'reconcile', lastSuccess: NOW - 3_000, failures: 0, lastError: null, nextTry: null, counts: { runs: 3, changes: 0 } },
  ],
  ...over,
})
const failing = health({
  healthy: false,
  why: 'reconcile: no',
  parts: [{ name: 'reconcile', lastSuccess: null, failures: 3, lastError: 'no \u001B[31mway', nextTry: NOW + 4_000, counts: {} }],
})
const running = (over: Partial<DaemonStatus> = {}): DaemonStatus => ({
  presence: { kind: 'alive', process: record.process, frozen: false, record },
  answer: { kind: 'health', health: health() },
  health: health(),
  repaired: [],
  ...over,
})
const none: DaemonStatus = { presence: { kind: 'none' }, answer: null, health: null, repaired: [] }

describe('daemon status', () => {
  test('none runs', () => {
    expect(daemonText(none, '1.0.0', NOW, paint)).toEqual(['no daemon runs'])
    expect(daemonJson(none, '1.0.0')).toMatchObject({ pid: null, healthy: false, http: null, parts: [], answered: false, why: 'no daemon runs' })
    expect(daemonJson({ ...none, repaired: ['removed sock'] }, '1.0.0')['repaired']).toEqual(['removed sock'])
    expect(isWell(none)).toBe(false)
  })
  test('one that is well', () => {
    expect(daemonText(running(), '1.0.0', NOW, paint)).toEqual([
      'daemon pid 10 (1.0.0, since 1m05s, by daemon service): healthy',
      '  http://127.0.0.1:4000',
      '  home       ok  next in 2s',
      '  reconcile  ok  at work     runs 3, changes 0',
    ])
    expect(daemonJson(running(), '1.0.0')).toMatchObject({
      pid: 10,
      healthy: true,
      http: record.http,
      answered: true,
      why: null,
      liveness: 'alive',
      version: '1.0.0',
      startedBy: 'service',
    })
    expect(isWell(running())).toBe(true)
  })
  verifies('visible', 'one of which a part fails: how often, since when, why, and when it is tried again', () => {
    const seen = running({ answer: { kind: 'health', health: failing }, health: failing })
    const lines = daemonText(seen, '1.0.0', NOW, paint)
    expect(lines[0]).toMatch(/: unhealthy: reconcile: no$/)
    expect(lines[2]).toBe('  reconcile  failing ×3 from its start  next in 4s  no ·[31mway')
    expect(isWell(seen)).toBe(false)
  })
  verifies('visible', 'one that does not answer: what it wrote down last, and how old that is', () => {
    const silent = running({ answer: { kind: 'silent', why: 'ECONNREFUSED' } })
    expect(daemonText(silent, '1.0.0', NOW, paint)[0]).toMatch(/: does not answer \(ECONNREFUSED\); as of 12s ago: healthy$/)
    const presence = { kind: 'alive', process: record.process, frozen: true, record } as const
    expect(daemonText({ ...silent, presence, health: null }, '1.0.0', NOW, paint)[0]).toMatch(/it is frozen \(kill -CONT wakes it\)$/)
    expect(daemonJson({ ...silent, presence }, '1.0.0')).toMatchObject({
      healthy: false,
      answered: false,
      frozen: true,
      parts: [{ name: 'home' }, {}],
    })
  })
  test('one that cannot be judged from here', () => {
    const seen = running({ presence: { kind: 'unseen', record, why: 'another pid namespace' } })
    expect(daemonText(seen, '1.0.0', NOW, paint)[1]).toBe('  it cannot be judged from here: another pid namespace')
    expect(daemonJson(seen, '1.0.0')).toMatchObject({ pid: 10, liveness: 'unknown', why: 'it cannot be judged from here: another pid namespace' })
  })
  test('one of another version, or of another protocol', () => {
    const word = 'the daemon is 1.0.0, this command 2.0.0: holdfast daemon stop && holdfast daemon start'
    expect(daemonText(running(), '2.0.0', NOW, paint).at(-1)).toBe(word)
    expect(versionText('1.0.0', '1.0.0')).toEqual([])
    // To start that one anew by this command would put an older one in its place.
    for (const [newer, older] of [
      ['2.0.0', '1.9.9'],
      ['0.10.0', '0.9.0'],
      ['1.0.1', '1.0'],
    ] as const) {
      expect(versionText(newer, older)[0]).toMatch(/: use the newer holdfast/)
      expect(versionText(older, newer)[0]).toMatch(/: holdfast daemon stop/)
    }
    expect(versionText(null, '1.0.0')[0]).toMatch(/of another version, this command 1.0.0: holdfast daemon stop/)
    const other = running({ answer: { kind: 'other', version: '3.0.0', protocol: 2 } })
    expect(daemonText(other, '1.0.0', NOW, paint)[0]).toMatch(/speaks another protocol \(2\) than this command/)
    expect(daemonJson(other, '1.0.0')).toMatchObject({ answered: true, healthy: false })
  })
})

test('an event of the daemon reads as one', () => {
  const event = { seq: 1, at: NOW, kind: 'daemon', session: '', run: '', epoch: 0, detail: { what: 'unhealthy', why: 'reconcile: no' } } as const
  expect(eventsText([event], NOW, paint)).toEqual(['12:00:00  daemon unhealthy: reconcile: no'])
})
