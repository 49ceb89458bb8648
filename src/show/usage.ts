import type { Tokens } from '../model/index.ts'
import { totalTokens } from '../model/index.ts'

/** `12.3k tokens (in 8.1k, out 1.2k, cache read 2.0k, cache written 1.0k), $0.12`: reads from a cache cost least, and stand apart. */
export function tokensText(tokens: Tokens): string {
  const parts = [
    `in ${count(tokens.input)}`,
    `out ${count(tokens.output)}`,
    ...cached('read', tokens.cacheRead),
    ...cached('written', tokens.cacheWrite),
  ]
  const cost = tokens.cost === null ? '' : `, ${dollars(tokens.cost)}`
  return `${tokensShort(tokens)} ${totalTokens(tokens) === 1 ? 'token' : 'tokens'} (${parts.join(', ')})${cost}`
}

const cached = (how: string, tokens: number): string[] => (tokens === 0 ? [] : [`cache ${how} ${count(tokens)}`])

/** `12.3k`, for a column. */
export const tokensShort = (tokens: Tokens): string => count(totalTokens(tokens))

export const tokensJson = (tokens: Tokens): Tokens & { readonly total: number } => ({
  input: tokens.input,
  output: tokens.output,
  cacheRead: tokens.cacheRead,
  cacheWrite: tokens.cacheWrite,
  total: totalTokens(tokens),
  cost: tokens.cost,
})

/** From where a number is told in which unit. 999950 would be rounded to 1000.0k, and so is the first million. */
const UNITS: readonly (readonly [from: number, size: number, unit: string])[] = [
  [999_950_000, 1_000_000_000, 'G'],
  [999_950, 1_000_000, 'M'],
  [1000, 1000, 'k'],
]

function count(number: number): string {
  const unit = UNITS.find(([from]) => number >= from)
  return unit === undefined ? String(number) : `${(number / unit[1]).toFixed(1)}${unit[2]}`
}

/** Less than a cent is not nothing. */
const dollars = (cost: number): string => (cost > 0 && cost < 0.005 ? '<$0.01' : `$${cost.toFixed(2)}`)
