import type { Activity, UnwatchedTime } from '../model/index.ts'
import { UNWATCHED_AFTER_MS } from '../model/index.ts'

/** What a look has shown of who watches a run. Times are null where nobody can tell. */
export type Watchers = {
  /** When its keeper was last seen, if that is gone. */
  readonly keeperSeenAt: number | null
  readonly agentEndedAt: number | null
  /** When its run was over on record. */
  readonly endedAt: number | null
  readonly activity: Activity | null
}

/** Since when nobody watches; null: somebody does, or nobody can tell. A silence alone says nothing: an agent that waits for a tool is silent, too. */
export function unwatchedTime({ keeperSeenAt, agentEndedAt, endedAt, activity }: Watchers): UnwatchedTime | null {
  if (endedAt !== null) return { why: 'over', since: endedAt }
  if (agentEndedAt !== null) return { why: 'agent-gone', since: agentEndedAt }
  if (keeperSeenAt !== null) return { why: 'keeper-gone', since: keeperSeenAt }
  if (activity === null || activity.state !== 'idle' || activity.since === null || activity.how === 'output') return null
  return { why: 'idle', since: activity.since }
}

/** Whether an answer of that time was spent unwatched. Null: it is not known when anything was spent. */
export const isUnwatched = ({ why, since }: UnwatchedTime, spentAt: number | null): boolean =>
  spentAt !== null && spentAt > since + UNWATCHED_AFTER_MS[why]
