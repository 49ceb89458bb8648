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

/** `$2`, `$0.50` */
export const dollarsText = (dollars: number): string => `$${Number.isInteger(dollars) ? dollars : dollars.toFixed(2)}`

/** All that counts against a budget of tokens. `input` has what is in no cache; so nothing is counted twice. */
export const totalTokens = ({ input, output, cacheRead, cacheWrite }: Tokens): number => input + output + cacheRead + cacheWrite

export const addTokens = (one: Tokens, other: Tokens): Tokens => ({
  input: one.input + other.input,
  output: one.output + other.output,
  cacheRead: one.cacheRead + other.cacheRead,
  cacheWrite: one.cacheWrite + other.cacheWrite,
  cost: one.cost === null && other.cost === null ? null : (one.cost ?? 0) + (other.cost ?? 0),
})

/** What `one` has beyond `other`; never below nothing. */
export const tokensBeyond = (one: Tokens, other: Tokens): Tokens => ({
  input: Math.max(0, one.input - other.input),
  output: Math.max(0, one.output - other.output),
  cacheRead: Math.max(0, one.cacheRead - other.cacheRead),
  cacheWrite: Math.max(0, one.cacheWrite - other.cacheWrite),
  cost: one.cost === null ? null : Math.max(0, one.cost - (other.cost ?? 0)),
})

/** The higher of each number: what was burned does not become less. */
export const highestTokens = (one: Tokens, other: Tokens): Tokens => addTokens(one, tokensBeyond(other, one))

/** How far somebody has read what a session burns. Plain JSON, so that it can be kept between two looks. */
export type UsageCursor =
  /** `since`: when counting began; lines of before that in files that came later (copies, when a session is forked) do not count. */
  /** `until`: lines that were written later do not count; left out: all do. */
  | {
      readonly kind: 'lines'
      readonly since: number | null
      readonly until?: number
      readonly tokens: Tokens
      readonly files: Readonly<Record<string, FileCursor>>
    }
  /** `base`: the totals when counting began; null: they could not be read then. `seen`: how the files were when they were last read. */
  | { readonly kind: 'totals'; readonly base: Tokens | null; readonly tokens: Tokens; readonly seen: Readonly<Record<string, string>> }

export type FileCursor = {
  readonly offset: number
  /** A digest of the last bytes before it. A file that has others there was replaced, or cut and written anew. */
  readonly before: string
  /** Inside a line that is too long to be looked at. */
  readonly skipping: boolean
  /** Only lines written later than this count; null: all do. */
  readonly after: number | null
  /** Whether lines that do not say when they were written count. */
  readonly untimed: boolean
  /** When the latest line that counted was written. */
  readonly last: number | null
  readonly recent: readonly (readonly [key: string, tokens: Tokens])[]
  /** The most that the session was said to have cost; null: unknown. */
  readonly sessionCost: number | null
}

/** Where counting of a conversation begins or ends for an agent, as it was written down. `key`: the conversation, and the agent where that is inside another. */
export type UsageMark =
  /** `at`: when the agent came to it, for one that it comes back to; left out: with its run. */
  | { readonly native: string; readonly cursor: UsageCursor; readonly at?: number }
  /** It went on elsewhere, or another agent came: what was written there later is not its own. */
  | { readonly left: string; readonly at: number }
  /** In that time another run may have spent there too. `to`: null: as long as that run lives. */
  | { readonly shared: string; readonly from: number; readonly to: number | null; readonly with: string }

/** A stretch of a conversation that an agent had for itself. `key`: by which what was counted of it is remembered. */
export type UsageWindow = { readonly key: string; readonly start: UsageCursor; readonly until: number | null }

/** A time in which nobody can tell who spent. `to`: null: it lasts. */
export type DoubtfulTime = { readonly from: number; readonly to: number | null }
