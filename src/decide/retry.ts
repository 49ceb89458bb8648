/** Backoff with jitter: between half and all of a ceiling that begins at `minMs` and doubles up to `maxMs`. `random` is in [0, 1). */
export function backoffMs(attempt: number, bounds: { minMs: number; maxMs: number }, random: number): number {
  const ceiling = Math.min(bounds.maxMs, bounds.minMs * 2 ** Math.min(attempt, 20))
  return Math.max(1, Math.round(ceiling * (0.5 + random / 2)))
}
