import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDollars, parseTokens } from '../../src/decide/index.ts'

describe('parseTokens', () => {
  const cases: readonly [text: string, tokens: number | null][] = [
    ['200000', 200_000],
    ['1', 1],
    ['200k', 200_000],
    ['200K', 200_000],
    ['1.5M', 1_500_000],
    ['1.5m', 1_500_000],
    ['0.5k', 500],
    ['1.0005k', 1001],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', null],
    ['9'.repeat(400), null],
    ['0', null],
    ['0k', null],
    ['0.0M', null],
    ['0.0001k', null],
    ['', null],
    ['k', null],
    ['1.5', null],
    ['.5k', null],
    ['1.k', null],
    ['-1', null],
    ['+1', null],
    ['1 k', null],
    [' 1', null],
    ['1\n', null],
    ['1e3', null],
    ['1g', null],
    ['1km', null],
    ['1,000', null],
    ['0x10', null],
    ['Infinity', null],
  ]
  test.each(cases)('%j is %s', (text, tokens) => expect(parseTokens(text)).toBe(tokens))

  test('whatever was typed, a budget is a whole number above nothing, or none', () => {
    const typed = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('0', '1', '9', '.', 'k', 'M') }))
    fc.assert(
      fc.property(typed, (text) => {
        const tokens = parseTokens(text)
        expect(tokens === null || (Number.isSafeInteger(tokens) && tokens > 0)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('parseDollars', () => {
  const cases: readonly [text: string, dollars: number | null][] = [
    ['$2', 2],
    ['$0.50', 0.5],
    ['$0.5', 0.5],
    ['$2.00', 2],
    ['$0.29', 0.29],
    ['$0.01', 0.01],
    ['$1000000', 1_000_000],
    ['$0', null],
    ['$0.00', null],
    ['$0.001', null],
    ['$-1', null],
    ['-$1', null],
    ['2$', null],
    ['2', null],
    ['$', null],
    ['', null],
    ['$.5', null],
    ['$2.', null],
    ['$2k', null],
    ['$1,000', null],
    ['$ 2', null],
    [' $2', null],
    ['$2\n', null],
    ['$1e3', null],
    ['$$2', null],
    [`$${'9'.repeat(400)}`, null],
  ]
  test.each(cases)('%j is %s', (text, dollars) => expect(parseDollars(text)).toBe(dollars))
})
