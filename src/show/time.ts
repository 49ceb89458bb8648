const STEPS: readonly [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
]

/** `3d04h`, `2h05m`, `41s`: two units at most, never negative. */
export function age(ms: number): string {
  const whole = Math.max(0, ms)
  for (const [index, [size, unit]] of STEPS.entries()) {
    if (whole < size) continue
    const next = STEPS[index + 1]
    const count = `${Math.floor(whole / size)}${unit}`
    if (next === undefined) return count
    const rest = Math.floor((whole % size) / next[0])
    return rest === 0 ? count : `${count}${String(rest).padStart(2, '0')}${next[1]}`
  }
  return '0s'
}

export const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
