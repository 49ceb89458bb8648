import type { RequestEvent, WorkRequest } from '../request.ts'

/** Steps of a request that a source or surface has not heard yet, in their order. */
export type OutboxEntry = { readonly request: WorkRequest; readonly events: readonly RequestEvent[]; readonly tries: number }

/** How far the reporting to a target is behind. */
export type OutboxState = { readonly requests: number; readonly since: number | null; readonly trouble: string | null }

/**
 * Reports leave in the order of a request's story. The story is written in the transaction of each step, so nothing is lost when the worker dies. Only
 * how far a target has heard is noted here. A target is a source, which hears of its own requests.
 */
export interface OutboxStore {
  /** Requests with unheard steps that are due, those that have waited longest first. */
  due(target: string, now: number, limit: number): Promise<OutboxEntry[]>
  /** The target has heard everything up to this step. */
  recordHeard(target: string, request: string, seq: number): Promise<void>
  /** A report failed: the next try of this request is not before then. */
  recordFailed(target: string, request: string, why: string, dueAt: number): Promise<void>
  state(target: string): Promise<OutboxState>
}
