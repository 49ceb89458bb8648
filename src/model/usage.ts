/** What an agent says it has burned. Cache: of the input, what was read from and written to the provider's cache, where it tells that apart. */
export type Tokens = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** In US dollars, where the harness itself says so. */
  readonly cost: number | null
}

export const NO_TOKENS: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: null }

/** All that counts against a budget. `input` has what is in no cache; so nothing is counted twice. */
export const totalTokens = ({ input, output, cacheRead, cacheWrite }: Tokens): number => input + output + cacheRead + cacheWrite

export const subtractTokens = (one: Tokens, other: Tokens): Tokens => ({
  input: Math.max(0, one.input - other.input),
  output: Math.max(0, one.output - other.output),
  cacheRead: Math.max(0, one.cacheRead - other.cacheRead),
  cacheWrite: Math.max(0, one.cacheWrite - other.cacheWrite),
  cost: one.cost === null ? null : Math.max(0, one.cost - (other.cost ?? 0)),
})

export const addTokens = (one: Tokens, other: Tokens): Tokens => ({
  input: one.input + other.input,
  output: one.output + other.output,
  cacheRead: one.cacheRead + other.cacheRead,
  cacheWrite: one.cacheWrite + other.cacheWrite,
  cost: one.cost === null && other.cost === null ? null : (one.cost ?? 0) + (other.cost ?? 0),
})
