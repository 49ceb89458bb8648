const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const MAX_MS = 365 * 86_400_000

/** `90`, `90s`, `1m30s`, `250ms`, `2h`: milliseconds, or null if it is none (or more than a year). */
export function parseDuration(text: string): number | null {
  if (/^\d+$/.test(text)) return bounded(Number(text) * 1000)
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return null
  let total = 0
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) total += Number(number) * (UNITS[unit ?? ''] ?? 0)
  return bounded(total)
}

const bounded = (ms: number): number | null => (ms <= MAX_MS ? Math.round(ms) : null)
