/** How a call to a source or a surface can fail. Each kind has its own next step. */
export const CALL_FAILURES = [
  'timeout',
  'unreachable',
  'unauthorized',
  'forbidden',
  'missing',
  'conflict',
  'gone',
  'limited',
  'server',
  'garbage',
  'too-long',
  'refused',
] as const
export type CallFailureKind = (typeof CALL_FAILURES)[number]

export type CallFailure = {
  readonly kind: CallFailureKind
  readonly status: number | null
  /** The other side asks to be left alone for so long. */
  readonly retryAfterMs: number | null
  /** A sentence without secrets. */
  readonly why: string
}

/** An answer, or why there is none. A failed call proves nothing about what was asked. */
export type Called<T> = { readonly ok: T } | { readonly failed: CallFailure }

/** A piece of work as a source shows it. Everything in it is text from elsewhere. */
export type SourceItem = {
  readonly id: string
  readonly title: string
  readonly text: string
  readonly url: string | null
  /** As the source calls it; the configuration names its directory. */
  readonly repository: string | null
  readonly branch: string | null
  readonly labels: readonly string[]
  readonly priority: number | null
  readonly blockedBy: readonly string[]
  readonly state: string
  /** Null: it is open. */
  readonly closed: string | null
  readonly createdAt: number | null
}

/** `lost`: another worker has it. */
export type SourceClaim =
  | { readonly kind: 'won'; readonly token: string; readonly leaseMs: number | null }
  | { readonly kind: 'lost'; readonly why: string }

/** The word of the source about a claimed item. `lost`: the token is not the newest any more. */
export type SourceHold =
  | { readonly kind: 'held' }
  | { readonly kind: 'closed'; readonly reason: string }
  | { readonly kind: 'lost'; readonly why: string }

export type SourceFeedback = { readonly id: string; readonly author: string; readonly text: string; readonly at: number | null }

/** A step of a request, for its source. `sequence` makes a replay harmless. */
export type SourceReport = {
  readonly item: string
  readonly token: string | null
  readonly sequence: number
  readonly at: number
  readonly state: string
  readonly reason: string | null
  readonly summary: string | null
  readonly attempt: number
  readonly branch: string | null
  readonly commit: string | null
  readonly pullRequest: string | null
}

export type FeedbackReceipt = { readonly item: string; readonly feedback: string; readonly state: string; readonly why: string | null }

/** Where requests come from. Each call may fail on its own. */
export interface Source {
  readonly name: string
  readonly kind: string
  list(): Promise<Called<readonly SourceItem[]>>
  look(item: string): Promise<Called<SourceItem>>
  /** `key` makes a claim that is repeated after a lost answer the same claim. */
  claim(item: string, key: string): Promise<Called<SourceClaim>>
  heartbeat(item: string, token: string): Promise<Called<SourceHold>>
  feedback(item: string): Promise<Called<readonly SourceFeedback[]>>
  report(report: SourceReport): Promise<Called<'taken' | 'stale'>>
  receipt(receipt: FeedbackReceipt): Promise<Called<'taken'>>
}

/** The outcome of the calls to a source, and the time of the next. Times are of a clock that never jumps. */
export type SourceHealth = {
  readonly state: 'ok' | 'retrying' | 'limited' | 'auth-blocked'
  readonly failures: number
  /** Null: at once. */
  readonly nextAt: number | null
  readonly cause: string | null
  readonly succeededAt: number | null
}
