import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDuration } from '../../src/decide/index.ts'
import { verifies } from '../requirements.ts'

const YEAR_MS = 365 * 86_400_000

describe('parseDuration', () => {
  const cases: readonly [text: string, ms: number | null][] = [
    ['0', 0],
    ['90', 90_000],
    ['90s', 90_000],
    ['250ms', 250],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['0.5ms', 1],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['30s1m', 90_000],
    ['365d', YEAR_MS],
    ['366d', null],
    ['31536001', null],
    ['9'.repeat(400), null],
    ['', null],
    ['s', null],
    ['1.5', null],
    ['-1s', null],
    ['+1s', null],
    ['1 s', null],
    [' 1s', null],
    ['1s\n', null],
    ['1S', null],
    ['1w', null],
    ['1m30', null],
    ['1e3s', null],
    ['0x10', null],
    ['Infinity', null],
  ]
  test.each(cases)('%j is %s', (text, ms) => expect(parseDuration(text)).toBe(ms))

  verifies('bounded', 'whatever was typed, a duration is a whole number of milliseconds of at most a year, or none', () => {
    const typed = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('1', '9', '.', 'm', 's', 'h', 'd') }))
    fc.assert(
      fc.property(typed, (text) => {
        const ms = parseDuration(text)
        expect(ms === null || (Number.isSafeInteger(ms) && ms >= 0 && ms <= YEAR_MS)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
  test('units can be taken apart and put together', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(99), fc.nat(99), fc.nat(999), (hours, minutes, seconds, ms) => {
        expect(parseDuration(`${hours}h${minutes}m${seconds}s${ms}ms`)).toBe(hours * 3_600_000 + minutes * 60_000 + seconds * 1000 + ms)
      }),
    )
  })
})
