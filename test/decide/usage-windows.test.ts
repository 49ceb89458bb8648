import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { windowsOf, withoutDoubt } from '../../src/decide/index.ts'
import type { DoubtfulTime, UsageMark, UsageWindow } from '../../src/model/index.ts'
import { NO_TOKENS } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

const lines = (since: number | null) => ({ kind: 'lines', since, tokens: NO_TOKENS, files: {} }) as const
const begin = (at: number, native = 'claude x'): UsageMark => ({ native, cursor: lines(at), ...(at === 0 ? {} : { at }) })
const left = (at: number, key = 'claude x'): UsageMark => ({ left: key, at })
const spans = (windows: readonly UsageWindow[]) => windows.map(({ start, until }) => [start.kind === 'lines' ? start.since : null, until])

describe('the stretches of a conversation that an agent had', () => {
  const cases: readonly [string, UsageMark[], unknown[]][] = [
    ['from its begin on', [begin(0)], [[0, null]]],
    ['the first begin holds', [begin(0), begin(5)], [[0, null]]],
    ['until it left', [begin(0), left(9)], [[0, 9]]],
    [
      'and again since it came back',
      [begin(0), left(9), begin(12)],
      [
        [0, 9],
        [12, null],
      ],
    ],
    ['the earliest end holds', [begin(0), left(9), left(4), left(7)], [[0, 4]]],
    ['a begin of before the end is a late word of the first', [begin(0), left(9), begin(0)], [[0, 9]]],
    ['of another conversation nothing is said', [begin(3, 'claude y'), left(4)], []],
    ['one that was never there has left nothing', [left(4)], []],
  ]
  test.each(cases)('%s', (_what, marks, seen) => expect(spans(windowsOf(marks, 'claude x'))).toEqual(seen))

  test('each has a key of its own, and another one once it is closed', () => {
    const keys = (...marks: UsageMark[]) => windowsOf(marks, 'claude x').map(({ key }) => key)
    expect(keys(begin(0))).toEqual(['claude x'])
    expect(keys(begin(0), left(9), begin(12))).toEqual(['claude x <9', 'claude x #2'])
    expect(keys(begin(0), left(9), begin(12), left(15), left(7))).toEqual(['claude x <7', 'claude x #2 <7'])
  })
})

verifies('unknown', 'of a time in which two may have spent nothing is sure, and all else is', () => {
  const time = fc
    .tuple(fc.nat(30), fc.option(fc.nat(30)))
    .map(([from, length]): DoubtfulTime => ({ from, to: length === null ? null : from + length }))
  fc.assert(
    fc.property(fc.nat(20), fc.option(fc.nat(40)), fc.array(time, { maxLength: 4 }), fc.nat(60), (since, length, doubts, at) => {
      const window = { key: 'k', start: lines(since), until: length === null ? null : since + length }
      const isIn = (one: UsageWindow): boolean => one.start.kind === 'lines' && at > (one.start.since ?? -1) && at <= (one.until ?? 1000)
      const isDoubtful = doubts.some(({ from, to }) => at > from && at <= (to ?? 1000))
      const sure = withoutDoubt(window, doubts)
      expect(sure.filter(isIn)).toHaveLength(isIn(window) && !isDoubtful ? 1 : 0)
      expect(new Set(sure.map(({ key }) => key)).size).toBe(sure.length)
    }),
    { numRuns: 500 },
  )
  const totals = { key: 'k', start: { kind: 'totals', base: null, tokens: NO_TOKENS, seen: {} }, until: null } as const
  expect(withoutDoubt(totals, [])).toEqual([totals])
  expect(withoutDoubt(totals, [{ from: 1, to: 2 }])).toEqual([])
})
