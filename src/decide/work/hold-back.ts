import type { FailureRecord, WorkRequest } from '../../model/index.ts'
import { judgeFailures } from './failure-breaker.ts'

export type HoldFacts = {
  readonly request: WorkRequest
  /** All that are open, and the newest requests whether or not they are over. */
  readonly open: readonly WorkRequest[]
  readonly newest: readonly WorkRequest[]
  /** The limit that the repository sets itself; null: none. */
  readonly atOnce: number | null
  readonly now: number
}

/** What keeps a queued request back although limits and order would let it begin; null: nothing. `until`: null: not known. */
export function holdBack({ request, open, newest, atOnce, now }: HoldFacts): { readonly why: string; readonly until: number | null } | null {
  const { repo, harness, from } = request.order
  const busy = open.filter(({ state, order }) => (state === 'running' || state === 'claimed') && order.repo === repo).length
  if (atOnce !== null && busy >= atOnce) return { why: `${busy} of ${atOnce} requests run that WORKFLOW.md of ${repo} allows at once`, until: null }
  const limited = open.find(({ cause, dueAt, order }) => cause === 'limit' && dueAt !== null && dueAt > now && order.harness === harness)
  if (limited !== undefined) return { why: `${harness} came to its usage limit with ${limited.id}`, until: limited.dueAt }
  // A person who asks for one more try gets it.
  if (from !== null) return null
  const verdict = judgeFailures(failuresOf(newest, repo), busy, now)
  return verdict.kind === 'open' ? { why: verdict.why, until: verdict.until } : null
}

/** Ends that say something about the repository or its agent. A person's word, a source's, and a limit say nothing. */
const COUNTED: readonly string[] = ['no-result', 'agent-failed', 'attempts', 'start-refused', 'silence', 'no-progress']

const failuresOf = (newest: readonly WorkRequest[], repo: string): FailureRecord[] =>
  newest
    .flatMap(({ order, endedAt, state, reason }) => {
      if (order.repo !== repo || endedAt === null || state === 'cancelled') return []
      return [{ at: endedAt, failure: state === 'blocked' && reason !== null && COUNTED.includes(reason) ? reason : null }]
    })
    .toSorted((a, b) => b.at - a.at)
