import { backoffMs } from '../../decide/index.ts'
import type { Clock } from '../../model/index.ts'
import { policy } from '../../model/index.ts'

/** Runs whose end was tried and did not come about, until it does: each is tried again after a pause that grows. */
export type Retries = {
  /** How much longer it is left alone. What has to be done for another reason than before was not tried yet. */
  leftMs(run: string, what: string): number
  failed(run: string, what: string, why: string): void
  /** It came about, or need not any more. */
  done(run: string): void
  /** Only these are still live. */
  keep(runs: ReadonlySet<string>): void
  /** Of each, what is in the way. */
  whys(): string[]
}

export function openRetries(clock: Clock): Retries {
  const tried = new Map<string, { readonly what: string; readonly times: number; readonly notBefore: number; readonly why: string }>()
  const bounds = { minMs: policy.backoffMinMs, maxMs: policy.backoffMaxMs }
  return {
    leftMs(run, what) {
      const last = tried.get(run)
      return last === undefined || last.what !== what ? 0 : Math.max(0, last.notBefore - clock.elapsed())
    },
    failed(run, what, why) {
      const last = tried.get(run)
      const times = last === undefined || last.what !== what ? 0 : last.times
      tried.set(run, { what, times: times + 1, notBefore: clock.elapsed() + backoffMs(times, bounds, clock.random()), why })
    },
    done: (run) => void tried.delete(run),
    keep: (runs) => {
      for (const run of tried.keys()) if (!runs.has(run)) tried.delete(run)
    },
    whys: () => [...tried.values()].map(({ why }) => why),
  }
}
