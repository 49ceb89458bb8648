import type { FailureRecord, WorkRequest } from '../../model/index.ts'
import { isBusy } from '../request-queue.ts'
import { judgeFailures } from './failure-breaker.ts'

export type HoldFacts = {
  readonly request: WorkRequest
  /** All that are open, and those that ended last: newer ones that wait hide no failure. */
  readonly open: readonly WorkRequest[]
  readonly ended: readonly WorkRequest[]
  /** The limit that the repository sets itself; null: none. */
  readonly atOnce: number | null
  readonly now: number
}

/** What keeps a queued request back although limits and order would let it begin; null: nothing. `until`: null: not known. */
export function holdBack({ request, open, ended, atOnce, now }: HoldFacts): { readonly why: string; readonly until: number | null } | null {
  const { repo, harness, from } = request.order
  const busy = open.filter((one) => isBusy(one) && one.order.repo === repo).length
  if (atOnce !== null && busy >= atOnce) return { why: `${busy} of ${atOnce} requests run that WORKFLOW.md of ${repo} allows at once`, until: null }
  const limited = open.find(({ cause, dueAt, order }) => cause === 'limit' && dueAt !== null && dueAt > now && order.harness === harness)
  // Those that waited for the limit themselves begin apart, each at its own time.
  if (limited !== undefined && request.attempt === 0) return { why: `${harness} came to its usage limit with ${limited.id}`, until: limited.dueAt }
  // A person who asks for one more try gets it.
  if (from !== null) return null
  const verdict = judgeFailures(failuresOf(ended, repo), busy, now)
  return verdict.kind === 'open' ? { why: verdict.why, until: verdict.until } : null
}

/** Ends that say something about the repository or its agent. A person's word, a source's, and a limit say nothing. */
const COUNTED: readonly string[] = ['no-result', 'agent-failed', 'attempts', 'start-refused', 'silence', 'no-progress']

const failuresOf = (ended: readonly WorkRequest[], repo: string): FailureRecord[] =>
  ended
    .flatMap(({ order, endedAt, state, reason }) => {
      if (order.repo !== repo || endedAt === null || state === 'cancelled') return []
      return [{ at: endedAt, failure: state === 'blocked' && reason !== null && COUNTED.includes(reason) ? reason : null }]
    })
    .toSorted((a, b) => b.at - a.at)
