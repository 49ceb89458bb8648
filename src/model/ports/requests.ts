import type { Feedback, FeedbackEvent, Receipt } from '../feedback.ts'
import type {
  Claimant,
  Closing,
  RequestCause,
  RequestEndState,
  RequestEvent,
  RequestReason,
  RequestTrouble,
  WorkOrder,
  WorkRequest,
  WorkResult,
} from '../request.ts'

/** `waitsFor`: it begins as waiting; null: as queued. `branch` and `session`: where it goes on with another one's. */
export type NewRequest = {
  readonly id: string
  readonly order: WorkOrder
  readonly session: string
  readonly branch: string
  readonly waitsFor: RequestCause | null
  readonly summary: string | null
  readonly at: number
}

/** `known`: its source has handed it over before, and this is its id here. */
export type AddAnswer = { readonly kind: 'added' | 'known'; readonly id: string }

/** `seenClaim`: the newest claim when limits were looked at; `seenEpoch`: of its session. */
export type RequestClaim = {
  readonly id: string
  readonly token: number
  readonly seenClaim: number
  readonly seenEpoch: number
  readonly claimant: Claimant
  readonly at: number
}

/** Who writes: with an older token nothing is changed. */
export type Holds = { readonly id: string; readonly token: number }

export type Placed = { readonly dir: string; readonly branch: string; readonly base: string }

/** `counts`: its attempt is used up; otherwise it never began. */
export type Release = { readonly why: string; readonly dueAt: number | null; readonly counts: boolean }

/** `rework`: what it did is to be changed. */
export type Pause = { readonly cause: RequestCause; readonly summary: string; readonly dueAt: number | null }

export type RequestEnding = {
  readonly state: RequestEndState
  readonly reason: RequestReason
  readonly summary: string
  readonly by: string
}

/** Requests. Each write is one conditional statement that carries the token, and asks the table of states. */
export interface RequestStore {
  add(request: NewRequest): Promise<AddAnswer>
  get(id: string): Promise<WorkRequest | null>
  /** The open ones, by priority and age; all, the newest first; or those that are over, the last end first. */
  list(which: 'open' | 'all' | 'ended', limit: number): Promise<WorkRequest[]>
  /** The requests that a source has handed over, by its keys: also those that are over. */
  ofSource(source: string, keys: readonly string[]): Promise<ReadonlyMap<string, WorkRequest>>
  /** The request whose run this is, or was last. */
  ofRun(run: string): Promise<WorkRequest | null>
  story(id: string, limit: number): Promise<RequestEvent[]>
  /** Grows with every claim of anybody. */
  newestClaim(): Promise<number>
  /** The token; null: somebody was first, or it is not queued any more. Look again. */
  claim(claim: RequestClaim): Promise<number | null>
  recordPlaced(holds: Holds, placed: Placed, at: number): Promise<boolean>
  recordStarted(holds: Holds, run: string, at: number): Promise<boolean>
  recordResult(holds: Holds, result: WorkResult, at: number): Promise<boolean>
  recordReleased(holds: Holds, release: Release, at: number): Promise<boolean>
  recordPaused(holds: Holds, pause: Pause, at: number): Promise<boolean>
  /** What it waited for has come. `rework`: it is feedback, so its attempts begin anew. */
  recordDue(holds: Holds, due: { readonly why: string; readonly rework: boolean }, at: number): Promise<boolean>
  /** Null: it went well. `dueAt`: when it is tried again. */
  recordTrouble(holds: Holds, trouble: RequestTrouble | null, dueAt: number | null, at: number): Promise<boolean>
  /** Its feedback that has not arrived is ignored in the same transaction. */
  recordEnded(holds: Holds, ending: RequestEnding, at: number): Promise<boolean>
  /** Somebody wants it over, whoever has it. False: it is over. */
  recordClosing(id: string, closing: Closing, at: number): Promise<boolean>
  /** Forgets requests that ended before, the oldest first. */
  forget(which: { readonly endedBefore: number; readonly limit: number }): Promise<string[]>
}

export type NewFeedback = Pick<Feedback, 'id' | 'request' | 'text' | 'by' | 'key' | 'at'>

/** `over`: its request is; nothing is kept. `known`: it was said before, under this id. */
export type FeedbackAnswer = { readonly kind: 'added' | 'known' | 'over' | 'unknown'; readonly id: string }

export interface FeedbackStore {
  add(feedback: NewFeedback): Promise<FeedbackAnswer>
  /** Of a request in the order in which it was said. */
  list(request: string): Promise<Feedback[]>
  get(id: string): Promise<Feedback | null>
  /** All of the pending is on its way, in one transaction; answers what it is. Nothing of a request that is over, or that others hold. */
  begin(holds: Holds, receipt: Receipt, at: number): Promise<Feedback[]>
  /** False: the table refuses it, or somebody was first. */
  record(id: string, event: FeedbackEvent, receipt: Receipt | null, at: number): Promise<boolean>
}
