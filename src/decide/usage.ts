const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1000, m: 1_000_000 }

/** `200000`, `200k`, `1.5M`: a whole number of tokens, or null if it is none (or nothing, or more than can be counted). */
export function parseTokens(text: string): number | null {
  const [, number, unit] = /^(\d+|\d+\.\d+(?=[km]))([km]?)$/i.exec(text) ?? []
  if (number === undefined) return null
  const tokens = Math.round(Number(number) * (UNITS[unit?.toLowerCase() ?? ''] ?? 0))
  return tokens > 0 && Number.isSafeInteger(tokens) ? tokens : null
}

/** `$2`, `$0.50`: US dollars in whole cents, or null if it is none (or nothing, or more than can be counted). */
export function parseDollars(text: string): number | null {
  const [, number] = /^\$(\d+(?:\.\d{1,2})?)$/.exec(text) ?? []
  const cents = Math.round(Number(number) * 100)
  return cents > 0 && Number.isSafeInteger(cents) ? cents / 100 : null
}
