import type { FailureRecord } from '../../model/index.ts'

/** So many failures of one kind within the window stop new starts of the repository. */
export const FAILURES = 5
export const WINDOW_MS = 3_600_000
/** After the last of them it takes so long until a single request may try. */
export const PAUSE_MS = 900_000

/** Whether another request of a repository may begin. `trial`: a single one, whose end decides. */
export type BreakerVerdict =
  | { readonly kind: 'closed' }
  | { readonly kind: 'open'; readonly until: number; readonly why: string }
  | { readonly kind: 'trial'; readonly why: string }

/** From the newest endings of a repository, newest first. A success ends the count. A person who asks for one more try does so, too. */
export function judgeFailures(endings: readonly FailureRecord[], running: number, now: number): BreakerVerdict {
  const streak: FailureRecord[] = []
  for (const ending of endings) {
    if (ending.failure === null || ending.failure !== endings[0]?.failure) break
    streak.push(ending)
  }
  const [last] = streak
  const recent = streak.filter(({ at }) => last !== undefined && last.at - at <= WINDOW_MS)
  if (last === undefined || recent.length < FAILURES) return { kind: 'closed' }
  const why = `the last ${recent.length} requests of this repository failed in the same way: ${last.failure}`
  const until = last.at + PAUSE_MS
  if (now < until) return { kind: 'open', until, why }
  return running > 0 ? { kind: 'open', until: now, why: `${why}; one request tries it now` } : { kind: 'trial', why }
}
