import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { age, iso } from '../../src/show/index.ts'

const S = 1000
const M = 60 * S
const H = 60 * M
const D = 24 * H

describe('age', () => {
  const cases: readonly [ms: number, text: string][] = [
    [-5 * S, '0s'],
    [0, '0s'],
    [999, '0s'],
    [S, '1s'],
    [41 * S + 999, '41s'],
    [59 * S, '59s'],
    [M, '1m'],
    [M + S, '1m01s'],
    [59 * M + 59 * S, '59m59s'],
    [H, '1h'],
    [H + 59 * S, '1h'],
    [2 * H + 5 * M, '2h05m'],
    [23 * H + 59 * M, '23h59m'],
    [D, '1d'],
    [3 * D + 4 * H, '3d04h'],
    [D + 59 * M, '1d'],
    [400 * D, '400d'],
  ]
  test.each(cases)('%i ms is %s', (ms, text) => expect(age(ms)).toBe(text))

  test('is two units at most, whatever the time', () => {
    fc.assert(fc.property(fc.double({ min: -1e15, max: 1e15, noNaN: true }), (ms) => /^\d+[dhms](\d\d[hms])?$/.test(age(ms))))
  })
})

test('times are told in UTC, to the millisecond, and no time as none', () => {
  expect(iso(Date.UTC(2026, 0, 2, 3, 4, 5, 6))).toBe('2026-01-02T03:04:05.006Z')
  expect(iso(0)).toBe('1970-01-01T00:00:00.000Z')
  expect(iso(null)).toBeNull()
})
