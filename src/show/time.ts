import type { Page } from './page.ts'

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

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** By the clock on the wall: `14:03:05` of today, `2 Jan 14:03` of this year, `2 Jan 2025` before. */
export function localTime(at: number, now: number, { ahead = () => 0 }: Pick<Page, 'ahead'>): string {
  const wall = (ms: number): Date => new Date(ms + ahead(ms) * 60_000)
  const [then, today] = [wall(at), wall(now)]
  const [day = '', time = ''] = then.toISOString().split('T')
  if (day === today.toISOString().slice(0, day.length)) return time.slice(0, 8)
  const date = `${then.getUTCDate()} ${MONTHS[then.getUTCMonth()]}`
  return then.getUTCFullYear() === today.getUTCFullYear() ? `${date} ${time.slice(0, 5)}` : `${date} ${then.getUTCFullYear()}`
}
