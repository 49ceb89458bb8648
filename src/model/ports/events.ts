import type { ActivityChange, Refusal } from '../activity.ts'
import type { HoldfastEvent } from '../event.ts'
import type { RunBase } from '../run.ts'
import type { UnwatchedSpending } from '../unwatched.ts'

/** What happened; only ever added to. */
export interface EventStore {
  list(which: { session: string | null; after: number; limit: number }): Promise<HoldfastEvent[]>
  /** The newest, in words that no other history has; null: nothing has happened, or all of it is forgotten. */
  newest(): Promise<string | null>
  /** Is what `newest` once answered still on record? */
  has(event: string): Promise<boolean>
  /** What its harness says of itself. */
  recordTold(run: RunBase, detail: Readonly<Record<string, unknown>>, at: number): Promise<boolean>
  /** What its agent is at now. False: that is on record, or older than what is; or it is over, or was told of a moment ago. */
  recordActivity(run: RunBase, change: ActivityChange, at: number): Promise<boolean>
  /** Somebody was refused because of it. False: he was a moment ago, or it is over. */
  recordRefused(run: RunBase, refusal: Refusal, at: number): Promise<boolean>
  /** Tokens were spent in it while nobody watched. False: of this spender and this time it is on record. */
  recordUnwatched(run: RunBase, spending: UnwatchedSpending, at: number): Promise<boolean>
  /** Something about Holdfast's own daemon, which is of no session; only the newest of them are kept. */
  recordDaemon(detail: Readonly<Record<string, unknown>>, at: number): Promise<void>
}
