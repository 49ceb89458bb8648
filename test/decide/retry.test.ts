import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoffMs } from '../../src/decide/index.ts'
import { verifies } from '../requirements.ts'

const bounds = { minMs: 100, maxMs: 1000 }

describe('backoffMs', () => {
  const cases: readonly [attempt: number, random: number, ms: number][] = [
    [0, 0, 50],
    [0, 0.5, 75],
    [0, 0.999, 100],
    [1, 0, 100],
    [2, 0, 200],
    [3, 0, 400],
    [4, 0, 500],
    [4, 0.999, 1000],
    [1000, 0, 500],
  ]
  test.each(cases)('attempt %i with dice %f waits %i ms', (attempt, random, ms) => expect(backoffMs(attempt, bounds, random)).toBe(ms))

  verifies('bounded', 'a wait is never shorter than 1 ms, nor longer than its bound, and never shrinks with the attempts', () => {
    const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.nat(10_000), fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 300_000 }), dice, (attempt, minMs, maxMs, random) => {
        const wait = backoffMs(attempt, { minMs, maxMs }, random)
        expect(Number.isInteger(wait) && wait >= 1 && wait <= maxMs).toBe(true)
        expect(backoffMs(attempt + 1, { minMs, maxMs }, random)).toBeGreaterThanOrEqual(wait)
      }),
    )
  })
})
