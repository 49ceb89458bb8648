import { describe, expect, test } from 'vitest'
import { NO_TOKENS, type Tokens } from '../../src/model/index.ts'
import { tokensJson, tokensShort, tokensText } from '../../src/show/index.ts'

const tokens = (input: number, output = 0, cacheRead = 0, cacheWrite = 0, cost: number | null = null): Tokens => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  cost,
})

describe('tokens', () => {
  const texts: readonly [Tokens, string][] = [
    [tokens(8100, 1200, 2000, 1000, 0.12), '12.3k tokens (in 8.1k, out 1.2k, cache read 2.0k, cache written 1.0k), $0.12'],
    [tokens(8100, 1200), '9.3k tokens (in 8.1k, out 1.2k)'],
    [NO_TOKENS, '0 tokens (in 0, out 0)'],
    [tokens(1), '1 token (in 1, out 0)'],
    [tokens(1, 1, 0, 0, 0), '2 tokens (in 1, out 1), $0.00'],
    [tokens(1, 1, 0, 0, 0.001), '2 tokens (in 1, out 1), <$0.01'],
    [tokens(1, 1, 0, 0, 1234.5), '2 tokens (in 1, out 1), $1234.50'],
  ]
  test.each(texts)('%j: %s', (burned, text) => expect(tokensText(burned)).toBe(text))

  const shorts: readonly [number, string][] = [
    [0, '0'],
    [999, '999'],
    [1000, '1.0k'],
    [12_345, '12.3k'],
    [999_949, '999.9k'],
    [999_950, '1.0M'],
    [12_345_678, '12.3M'],
    [999_950_000, '1.0G'],
  ]
  test.each(shorts)('%d is %s', (number, text) => expect(tokensShort(tokens(number))).toBe(text))

  test('JSON has the total beside its parts', () => {
    expect(tokensJson(tokens(1, 2, 3, 4, 0.5))).toEqual({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4, total: 10, cost: 0.5 })
    expect(tokensJson(NO_TOKENS)).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0, cost: null })
  })
})
