import { describe, expect, test } from 'vitest'
import { isOrphan, nextJournal, spareReason, whatBecomesOf } from '../../src/decide/index.ts'
import type { Intent, Member } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { ended, intent, NOW, row, running, stopping } from './build.ts'

const takeover: Intent = { ...intent, end: 'superseded' }
const cancel = running({ task: 'cancel' })
const adopt = running({ task: 'adopt' })
const nested = running()

describe('what becomes of a run when the one around it ends', () => {
  const cases: readonly [
    what: string,
    child: typeof cancel,
    parent: Parameters<typeof whatBecomesOf>[1],
    intent: Intent | null,
    direct: boolean,
    fate: string,
  ][] = [
    ['a task ends with its parent', cancel, running(), null, true, 'stopped'],
    ['so does one that is to be adopted', adopt, ended({ state: 'completed' }), null, true, 'stopped'],
    ['a task is superseded at a takeover', cancel, running(), takeover, true, 'superseded'],
    ['one that is to be adopted waits', adopt, running(), takeover, true, 'leave'],
    ['also once its parent is on record as superseded', adopt, ended({ state: 'superseded' }), null, true, 'leave'],
    ['the first intent stands', adopt, stopping({ intent }), takeover, true, 'stopped'],
    ['nobody adopts what a cancelled task had started', adopt, running({ task: 'cancel' }), takeover, false, 'superseded'],
    ['any other run just ends', nested, running(), takeover, true, 'stopped'],
  ]
  test.each(cases)('%s', (_what, child, parent, wanted, direct, fate) => {
    const found = whatBecomesOf(child, parent, wanted, direct)
    expect(found.kind === 'leave' ? 'leave' : found.as).toBe(fate)
  })
})

describe('an orphan', () => {
  const parent = { state: 'superseded', endedAt: NOW - 1000 } as const
  const cases: readonly [what: string, orphan: boolean, run: typeof cancel, parent: Parameters<typeof isOrphan>[1]][] = [
    ['is one whose parent is over', true, nested, { state: 'completed', endedAt: NOW }],
    ['is not one whose parent lives', false, nested, null],
    ['is never independent', false, running({ independent: true }), { state: 'completed', endedAt: NOW }],
    ['is not yet a task that waits to be adopted', false, adopt, parent],
    ['is one that nobody came for', true, adopt, { ...parent, endedAt: NOW - 30_001 }],
    ['is one whose parent just ended', true, adopt, { state: 'stopped', endedAt: NOW }],
    ['is a task that nobody adopts', true, cancel, parent],
  ]
  test.each(cases)('%s: %s', (_what, orphan, run, of) => expect(isOrphan(run, of, NOW, 30_000)).toBe(orphan))
})

describe('the journal', () => {
  const member = (pid: number, ports?: number[]): Member => ({ row: row(pid), proof: 'marker', ...(ports === undefined ? {} : { ports }) })
  const entry = (pid: number, ports: number[] = []) => ({ pid, ticks: pid * 10, name: `p${pid}`, ports })
  test('has the members seen, the newest first', () =>
    expect(nextJournal([], [member(200), member(300, [80])], 9)).toEqual([entry(300, [80]), entry(200)]))
  test('is not written again for nothing', () => expect(nextJournal([entry(300), entry(200)], [member(200), member(300)], 9)).toBeNull())
  test('forgets who is gone, unless somebody may have its port', () => {
    expect(nextJournal([entry(200), entry(300, [80])], [member(400)], 9)).toEqual([entry(400), entry(300, [80])])
  })
  test('keeps ports that were not asked for again', () =>
    expect(nextJournal([entry(200, [80])], [member(200), member(300)], 9)).toEqual([entry(300), entry(200, [80])]))
  verifies('bounded', 'it has a size', () => {
    const many = Array.from({ length: 50 }, (_, index) => member(200 + index))
    expect(nextJournal([entry(100, [80])], many, 10)).toHaveLength(10)
  })
})

describe('sparing', () => {
  const rules = [
    { what: 'a browser', named: ['chrome'], unless: ['--headless'] },
    { what: 'a build daemon', named: ['java'], saying: ['GradleDaemon', '8.1'] },
    { what: 'a long name', named: ['containerd-shim-runc-v2'] },
  ]
  const reason = (name: string, line: string): string | null => spareReason(name, () => line.split(' '), rules)
  const cases: readonly [name: string, line: string, why: string | null][] = [
    ['chrome', 'chrome https://x', 'a browser'],
    ['chrome', 'chrome --headless=new', null],
    ['chromedriver', 'chromedriver', null],
    ['java', 'java -cp x GradleDaemon 8.1', 'a build daemon'],
    ['java', 'java -jar server.jar', null],
    ['containerd-shim', 'containerd-shim-runc-v2', 'a long name'],
    ['containerd-shi', '', null],
  ]
  test.each(cases)('%s as %s: %s', (name, line, why) => expect(reason(name, line)).toBe(why))
  test('a command line is read only where the name fits', () => {
    expect(spareReason('node', () => expect.fail('it was read'), rules)).toBeNull()
  })
})
