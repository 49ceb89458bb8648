import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_STEP_MS, watchRun } from '../../../src/decide/index.ts'
import type { WatchedRun, WatchLimits, WorkSigns } from '../../../src/model/index.ts'
import { verifies } from '../../requirements.ts'

const MINUTE = 60_000
const limits: WatchLimits = { idleMs: 5 * MINUTE, noProgressMs: 30 * MINUTE, noProgressTokens: 1_000 }
const signs = (activity: number, progress = 0, more: Partial<WorkSigns> = {}): WorkSigns => ({
  activity: `a${activity}`,
  progress: `p${progress}`,
  tokens: null,
  waits: false,
  ...more,
})

/** Looks one after the other: the reason of the first end, and when. */
function watch(looks: readonly (readonly [at: number, signs: WorkSigns | null])[], under = limits): { reason: string; at: number } | null {
  let before: WatchedRun | null = null
  for (const [at, seen] of looks) {
    const { counted, end } = watchRun(before, seen, at, under)
    if (end !== null) return { reason: end.reason, at }
    before = counted
  }
  return null
}
const each = (count: number, of: (minute: number) => WorkSigns | null): [number, WorkSigns | null][] =>
  Array.from({ length: count }, (_, minute) => [minute * MINUTE, of(minute)])

describe('watchRun', () => {
  test('silence ends a run once its limit was counted', () => {
    expect(watch(each(10, () => signs(0)))).toEqual({ reason: 'idle', at: 5 * MINUTE })
  })
  test('a busy agent without a change of files or commits has made no progress', () => {
    expect(watch(each(60, (minute) => signs(minute)))).toEqual({ reason: 'no-progress', at: 30 * MINUTE })
  })
  test('tokens without progress end a run before the time does', () => {
    expect(watch(each(60, (minute) => signs(minute, 0, { tokens: minute * 300 })))).toEqual({ reason: 'no-progress', at: 4 * MINUTE })
  })
  test('a change of files begins both counts anew', () => {
    expect(watch(each(100, (minute) => signs(0, Math.floor(minute / 4))))).toBeNull()
    expect(watch(each(100, (minute) => signs(minute, Math.floor(minute / 20), { tokens: minute * 40 })))).toBeNull()
  })
  test('an agent that waits for a person is not ended', () => {
    expect(watch(each(100, () => signs(0, 0, { waits: true })))).toBeNull()
  })
  test('without limits nothing is ended', () => {
    expect(
      watch(
        each(100, () => signs(0)),
        { idleMs: null, noProgressMs: null, noProgressTokens: null },
      ),
    ).toBeNull()
  })
  verifies('unknown', 'a look that saw no signs counts no time, and neither does the next one', () => {
    expect(watch(each(11, (minute) => (minute % 2 === 0 ? signs(0) : null)))).toBeNull()
  })
  verifies('unknown', 'a frozen worker and a clock that jumps count no time', () => {
    const day = 24 * 60 * MINUTE
    expect(watch([0, 1, 2, 3].map((at) => [at * day, signs(0)] as const))).toBeNull()
    expect(watch([0, MINUTE, -day, -day + MINUTE, -day + 2 * MINUTE].map((at) => [at, signs(0)] as const))).toBeNull()
  })
})

verifies('unknown', 'a run is ended only at a look whose time counted, and never before so much time was counted', () => {
  const look = fc.record({
    step: fc.oneof(fc.integer({ min: -2 * MAX_STEP_MS, max: 3 * MAX_STEP_MS }), fc.constant(MAX_STEP_MS)),
    activity: fc.integer({ min: 0, max: 3 }),
    progress: fc.integer({ min: 0, max: 1 }),
    seen: fc.integer({ min: 0, max: 9 }),
  })
  fc.assert(
    fc.property(fc.array(look, { maxLength: 60 }), (looks) => {
      let before: WatchedRun | null = null
      let now = 0
      let counted = 0
      for (const { step, activity, progress, seen } of looks) {
        now += step
        const there: WorkSigns | null = seen === 0 ? null : signs(activity, progress)
        const counts = step >= 0 && step <= MAX_STEP_MS && there !== null && before?.signs != null
        if (counts) counted += step
        const { counted: next, end } = watchRun(before, there, now, limits)
        if (end !== null) {
          expect(counts).toBe(true)
          expect(counted).toBeGreaterThanOrEqual(end.reason === 'idle' ? 5 * MINUTE : 30 * MINUTE)
          return
        }
        before = next
      }
    }),
    { numRuns: 500 },
  )
})
