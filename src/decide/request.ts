import type { BranchLook, Ended, RequestCause, RequestEnding, RequestReason, RequestState, WorkRequest } from '../model/index.ts'
import { BY, isByPerson } from '../model/index.ts'

/** The newest run of a request's session, if that is later than its claim. */
export type RequestRun =
  | { readonly kind: 'none' }
  | { readonly kind: 'live'; readonly id: string; readonly liveness: 'alive' | 'unknown'; readonly why: string | null }
  | { readonly kind: 'ended'; readonly run: Ended }

export type RequestFacts = {
  readonly now: number
  readonly run: RequestRun
  readonly claimant: 'alive' | 'gone' | 'unknown'
  /** Looked at only when its run is over; null: not looked at yet. */
  readonly branch: BranchLook | null
  /** The states of those it comes after; null: there is no such request any more. */
  readonly after: readonly { readonly id: string; readonly state: RequestState | null }[]
}

export type RequestBounds = { readonly attempts: number; readonly finishMs: number }

export type RequestStep =
  | { readonly kind: 'keep'; readonly why: string }
  /** Its run is on record: from here on the claim belongs to that. */
  | { readonly kind: 'started'; readonly run: string }
  | { readonly kind: 'stop'; readonly why: string }
  | { readonly kind: 'look-at-branch' }
  | { readonly kind: 'publish' }
  | { readonly kind: 'retry-look'; readonly why: string }
  | { readonly kind: 'release'; readonly why: string; readonly counts: boolean }
  | { readonly kind: 'pause'; readonly cause: RequestCause }
  | { readonly kind: 'due'; readonly why: string; readonly rework: boolean }
  | { readonly kind: 'end'; readonly ending: Omit<RequestEnding, 'summary'>; readonly summary: string | null }

/** What follows for one request. Missing proof keeps it as it is. */
export function nextStep(request: WorkRequest, facts: RequestFacts, bounds: RequestBounds): RequestStep {
  switch (request.state) {
    case 'queued':
      return closed(request) ?? keep('it is queued')
    case 'claimed':
      return whileClaimed(request, facts, bounds)
    case 'running':
      return whileRunning(request, facts, bounds)
    case 'waiting':
      return closed(request) ?? whileWaiting(request, facts)
    default:
      return keep('it is over')
  }
}

const keep = (why: string): RequestStep => ({ kind: 'keep', why })

const end = (state: RequestEnding['state'], reason: RequestReason, by: string, summary: string | null = null): RequestStep => ({
  kind: 'end',
  ending: { state, reason, by },
  summary,
})

function closed({ closing }: WorkRequest): RequestStep | null {
  return closing === null ? null : end('cancelled', closing.reason, closing.by, closing.summary)
}

/** The worker that took it is asked only as long as there is no run: a run speaks for itself. */
function whileClaimed(request: WorkRequest, { run, claimant }: RequestFacts, { attempts }: RequestBounds): RequestStep {
  if (run.kind === 'live') return { kind: 'started', run: run.id }
  if (run.kind === 'ended') return { kind: 'started', run: run.run.id }
  if (claimant === 'alive') return keep('a worker is starting it')
  if (claimant === 'unknown') return keep('whether the worker that took it is alive cannot be told')
  const over = closed(request)
  if (over !== null) return over
  const why = 'the worker that took it ended before its agent was started'
  if (request.attempt >= attempts) return end('blocked', 'attempts', 'worker', why)
  return { kind: 'release', why, counts: true }
}

function whileRunning(request: WorkRequest, facts: RequestFacts, bounds: RequestBounds): RequestStep {
  const { run, now } = facts
  const { closing, result } = request
  if (run.kind === 'none') return end('blocked', 'lost', 'worker', 'its run is not on record any more')
  if (run.kind === 'live') {
    if (run.id !== request.run) return { kind: 'started', run: run.id }
    if (closing !== null) return { kind: 'stop', why: closing.summary }
    if (run.liveness === 'unknown') return keep(`whether its run is alive cannot be told: ${run.why ?? 'no reason is known'}`)
    if (isNewResult(request) && now - (result?.at ?? now) >= bounds.finishMs) return { kind: 'stop', why: 'its result is reported' }
    return keep(isNewResult(request) ? 'its result is reported, and its agent is coming to an end' : 'its agent is at work')
  }
  if (run.run.id !== request.run) return { kind: 'started', run: run.run.id }
  const over = closed(request)
  if (over !== null) return over
  if (facts.branch === null) return { kind: 'look-at-branch' }
  // A look that failed is no answer: it never means that there is no result.
  if (facts.branch.kind === 'unknown') return { kind: 'retry-look', why: facts.branch.why }
  return afterRun(request, run.run, facts.branch, bounds)
}

/** Reported since there was something new to do. */
const isNewResult = ({ result }: WorkRequest): boolean => result?.kind === 'reported'

function afterRun(request: WorkRequest, run: Ended, branch: Extract<BranchLook, { kind: 'seen' }>, bounds: RequestBounds): RequestStep {
  const failure = failureOf(request, run, branch.commits, bounds)
  if (failure !== null && request.pending > 0 && failure.kind === 'end' && REPAIRABLE.includes(failure.ending.reason)) return toFeedback(request)
  if (failure !== null) return failure
  if (needsPublishing(request, branch)) return { kind: 'publish' }
  return afterResult(request)
}

/** Who has something to say to it gives it another run. */
const REPAIRABLE: readonly RequestReason[] = ['no-result', 'agent-failed']

export const needsPublishing = ({ order, result }: WorkRequest, branch: Extract<BranchLook, { kind: 'seen' }>): boolean =>
  order.publish === 'branch' && branch.commits > 0 && branch.remote !== null && (result?.published == null || result.head !== branch.head)

/** Null: it has a result. */
function failureOf(request: WorkRequest, run: Ended, commits: number, { attempts }: RequestBounds): RequestStep | null {
  if (isNewResult(request)) return null
  if (run.by === BY.timeout) return end('blocked', 'timeout', BY.timeout)
  if (run.by === BY.budget) return end('blocked', 'budget', BY.budget)
  if (run.by === BY.idle) return end('blocked', 'silence', BY.idle)
  if (run.by === BY.noProgress) return end('blocked', 'no-progress', BY.noProgress)
  if (run.state === 'stopped' && isByPerson(run.by)) return end('blocked', 'stopped', run.by)
  if (run.state === 'completed') return commits > 0 ? null : end('blocked', 'no-result', 'agent')
  // Its own word, and not that of a signal.
  if (run.state === 'failed' && run.exit?.signal === null && run.harness !== null)
    return end('blocked', commits > 0 ? 'agent-failed' : 'no-result', 'agent')
  const why = `its run ${run.id} ended without a word: ${run.reason}`
  return request.attempt >= attempts ? end('blocked', 'attempts', 'worker') : { kind: 'release', why, counts: true }
}

/** With a result, which is published where it should be. */
export function afterResult(request: WorkRequest): RequestStep {
  if (request.pending > 0) return toFeedback(request)
  if (request.order.review) return { kind: 'pause', cause: 'review' }
  return end('done', request.result?.kind === 'reported' ? 'reported' : 'commits', request.result?.by ?? 'agent')
}

function toFeedback(request: WorkRequest): RequestStep {
  return request.rework >= request.order.reworkLimit ? end('blocked', 'rework-limit', 'worker') : { kind: 'pause', cause: 'feedback' }
}

function whileWaiting(request: WorkRequest, { now, after }: RequestFacts): RequestStep {
  const isDue = now >= (request.dueAt ?? Number.POSITIVE_INFINITY)
  switch (request.cause) {
    case 'dependency':
      return afterOthers(after)
    case 'limit':
      return isDue ? { kind: 'due', why: 'its limit is over', rework: false } : keep('its agent is limited')
    case 'publish':
      return isDue ? { kind: 'publish' } : keep('its branch could not be published yet')
    default:
      if (request.pending === 0) return keep(request.cause === 'feedback' ? 'it waits for feedback' : 'it waits for a review')
      if (request.rework >= request.order.reworkLimit) return end('blocked', 'rework-limit', 'worker')
      return { kind: 'due', why: 'there is feedback', rework: true }
  }
}

/** Done is what counts: what was blocked or cancelled will never be. */
function afterOthers(after: RequestFacts['after']): RequestStep {
  const failed = after.find(({ state }) => state === null || state === 'blocked' || state === 'cancelled')
  if (failed !== undefined) return end('blocked', 'dependency', 'worker', `it comes after ${failed.id}, which is ${failed.state ?? 'not on record'}`)
  if (after.every(({ state }) => state === 'done')) return { kind: 'due', why: 'all that it comes after is done', rework: false }
  return keep('it comes after others')
}
