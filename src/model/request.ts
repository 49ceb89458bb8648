import type { Place, ProcessId } from './identity.ts'

/** The states of a request and what may follow what. The store's conditions are made from this table. */
export const OPEN_REQUEST_STATES = ['queued', 'claimed', 'running', 'waiting'] as const
export const REQUEST_END_STATES = ['done', 'blocked', 'cancelled'] as const
export type OpenRequestState = (typeof OPEN_REQUEST_STATES)[number]
export type RequestEndState = (typeof REQUEST_END_STATES)[number]
export type RequestState = OpenRequestState | RequestEndState

/**
 * claimed: a worker has taken it, and nobody else may · started: its agent runs · released: its attempt is proven over, and another one may come ·
 * paused: it waits for something with a name (its cause) · due: that has come · the others: over, for good.
 */
export const REQUEST_EVENTS = ['claimed', 'started', 'released', 'paused', 'due', ...REQUEST_END_STATES] as const
export type RequestEventName = (typeof REQUEST_EVENTS)[number]

/** `refused` is an answer, not an error: the writer came too late and changes nothing. */
export type NextRequestState = RequestState | 'refused'

const NOTHING = {
  claimed: 'refused',
  started: 'refused',
  released: 'refused',
  paused: 'refused',
  due: 'refused',
  done: 'refused',
  blocked: 'refused',
  cancelled: 'refused',
} as const
const closing = { blocked: 'blocked', cancelled: 'cancelled' } as const

export const REQUEST_TABLE: Readonly<Record<RequestState, Readonly<Record<RequestEventName, NextRequestState>>>> = {
  queued: { ...NOTHING, claimed: 'claimed', paused: 'waiting', ...closing },
  claimed: { ...NOTHING, started: 'running', released: 'queued', paused: 'waiting', ...closing },
  // A person may go on with its session by hand: then the new run is its run.
  running: { ...NOTHING, started: 'running', released: 'queued', paused: 'waiting', done: 'done', ...closing },
  waiting: { ...NOTHING, paused: 'waiting', due: 'queued', done: 'done', ...closing },
  done: NOTHING,
  blocked: NOTHING,
  cancelled: NOTHING,
}

export const requestStatesThatTake = (event: RequestEventName): RequestState[] =>
  [...OPEN_REQUEST_STATES, ...REQUEST_END_STATES].filter((state) => REQUEST_TABLE[state][event] !== 'refused')

/** For what an open request waits; only a waiting one has a cause. */
export const REQUEST_CAUSES = ['review', 'feedback', 'limit', 'dependency', 'publish'] as const
export type RequestCause = (typeof REQUEST_CAUSES)[number]

/** Why a request is over: of its work, of its run, or of those who wanted it. */
export const REQUEST_REASONS = [
  'reported',
  'commits',
  'accepted',
  'no-result',
  'agent-failed',
  'attempts',
  'lost',
  'stopped',
  'timeout',
  'budget',
  'rework-limit',
  'start-refused',
  'publish-failed',
  'dependency',
  'silence',
  'no-progress',
  'same-failure',
  'usage-limit',
  'cancelled',
  'source-closed',
] as const
export type RequestReason = (typeof REQUEST_REASONS)[number]

/** What becomes of the commits of an agent: its branch goes to the repository's remote, or stays here. */
export const REQUEST_PUBLISH_WAYS = ['branch', 'none'] as const
export type Publish = (typeof REQUEST_PUBLISH_WAYS)[number]

/** What was asked for. It never changes. */
export type WorkOrder = {
  readonly title: string
  readonly text: string
  /** The top of the working tree of its repository. */
  readonly repo: string
  readonly harness: string
  /** A lower number comes first; without one it comes after all that have one. */
  readonly priority: number | null
  readonly labels: Readonly<Record<string, string>>
  /** The requests that have to be done before. */
  readonly after: readonly string[]
  /** For each of its runs. */
  readonly budget: number | null
  readonly timeoutMs: number | null
  readonly publish: Publish
  /** Its result waits for a person, who accepts it or gives feedback. */
  readonly review: boolean
  readonly reworkLimit: number
  /** The source that it comes from, its name there, and the token of its claim there; null: a person of this machine. */
  readonly source: { readonly name: string; readonly key: string; readonly token?: string | null; readonly url?: string | null } | null
  /** The request that it repeats (`rerun`) or goes on with (`retry`). */
  readonly from: { readonly request: string; readonly how: 'rerun' | 'retry' } | null
  readonly by: string
}

/** The worker that took it: it counts only until its run is on record. */
export type Claimant = { readonly process: ProcessId; readonly place: Place; readonly host: string }

/** What came of it. `published`: the remote that has the branch. */
export type WorkResult = {
  readonly kind: 'reported' | 'commits'
  readonly text: string
  readonly by: string
  readonly branch: string | null
  readonly commits: number
  readonly head: string | null
  readonly published: string | null
  readonly at: number
}

/** Somebody wants it over: recorded first, so that no start overtakes it. */
export type Closing = { readonly reason: 'cancelled' | 'source-closed'; readonly summary: string; readonly by: string; readonly at: number }

/** What went wrong with it last, and may go better the next time. */
export type RequestTrouble = { readonly step: string; readonly why: string; readonly times: number; readonly at: number }

export type WorkRequest = {
  readonly id: string
  readonly order: WorkOrder
  readonly state: RequestState
  readonly cause: RequestCause | null
  readonly reason: RequestReason | null
  readonly summary: string | null
  /** Grows with every claim: whoever writes with an older one has lost it. */
  readonly token: number
  /** Runs since there was something new to do; `rework`: how often there was. */
  readonly attempt: number
  readonly rework: number
  readonly claimant: Claimant | null
  readonly session: string
  /** The epoch that its session had at the claim: a run with a later one is of this claim, or comes after it. */
  readonly seenEpoch: number
  readonly run: string | null
  readonly dir: string | null
  readonly branch: string | null
  /** The commit that its branch began at. */
  readonly base: string | null
  readonly result: WorkResult | null
  readonly closing: Closing | null
  readonly trouble: RequestTrouble | null
  /** Nothing is done about it before. */
  readonly dueAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly endedAt: number | null
  /** Feedback that has not reached its agent. */
  readonly pending: number
}

/** A line of its story. */
export type RequestEvent = {
  readonly seq: number
  readonly request: string
  readonly at: number
  readonly kind: string
  readonly detail: Readonly<Record<string, unknown>>
}

export const isOpen = ({ state }: { readonly state: RequestState }): boolean => (OPEN_REQUEST_STATES as readonly string[]).includes(state)

/** How many may run at the same time; of labels, by `KEY=VALUE`. */
export type WorkLimits = { readonly atOnce: number; readonly perRepository: number; readonly perLabel: Readonly<Record<string, number>> }
