import type { PendingStep } from '../../app/index.ts'
import { patienceMs, type Want } from '../../decide/index.ts'
import type { Clock } from '../../model/index.ts'
import { policy } from '../../model/index.ts'

/** Remembers since when something has been due, so that those who are about to do it themselves get their time. */
export type Patience = {
  /** How much longer it is left to them. */
  leftMs(due: PendingStep): number
  /** Nothing is due about it any more. */
  forget(run: string): void
  /** Only these are still live. */
  keep(runs: ReadonlySet<string>): void
}

export const whatOf = (want: Want): string => (want.kind === 'end' ? want.why : want.kind)

export function openPatience(clock: Clock): Patience {
  const seen = new Map<string, { readonly what: string; readonly since: number; last: number }>()
  return {
    leftMs({ run, seen: looked, want }) {
      if (want === null) return Number.POSITIVE_INFINITY
      const now = clock.elapsed()
      const what = whatOf(want)
      const before = seen.get(run.id)
      // After a long time in which nobody looked (we were stopped, the machine slept) others need theirs anew.
      const same = before !== undefined && before.what === what && now - before.last <= policy.daemonPaceMs * 3
      const entry = same ? before : { what, since: now, last: now }
      entry.last = now
      seen.set(run.id, entry)
      const exitAgeMs = looked.exit === null ? null : clock.now() - looked.exit.at
      return patienceMs(want, run, looked, { forMs: now - entry.since, exitAgeMs }, policy)
    },
    forget: (run) => void seen.delete(run),
    keep: (runs) => {
      for (const run of seen.keys()) if (!runs.has(run)) seen.delete(run)
    },
  }
}
