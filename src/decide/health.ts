import type { DaemonHealth, PartHealth } from '../model/index.ts'

export const unborn = (name: string): PartHealth => ({ name, lastSuccess: null, failures: 0, lastError: null, nextTry: null, counts: {} })

export const atWork = (part: PartHealth): PartHealth => ({ ...part, nextTry: null })

export const succeeded = (part: PartHealth, counts: PartHealth['counts'], at: number, nextTry: number): PartHealth => ({
  ...part,
  lastSuccess: at,
  failures: 0,
  lastError: null,
  nextTry,
  counts,
})

export const failed = (part: PartHealth, lastError: string, nextTry: number): PartHealth => ({
  ...part,
  failures: part.failures + 1,
  lastError,
  nextTry,
})

/** All is well when no part has failed since its last good round. */
export function healthOf(parts: readonly PartHealth[], at: number): DaemonHealth {
  const failing = parts.filter(({ failures }) => failures > 0)
  const why = failing.map(({ name, lastError }) => `${name}: ${lastError ?? 'it failed'}`).join('; ')
  return { at, healthy: failing.length === 0, why: failing.length === 0 ? null : why, parts }
}
