import type { Feedback, FeedbackReceipt, RequestEvent, RequestState, SourceReport, WorkRequest } from '../../model/index.ts'

/** What a source hears of a step; null: the step is ours alone. */
export type Hearing = { readonly kind: 'report'; readonly report: SourceReport } | { readonly kind: 'receipt'; readonly receipt: FeedbackReceipt }

const STATES: Readonly<Record<string, RequestState>> = {
  claimed: 'claimed',
  started: 'running',
  released: 'queued',
  waiting: 'waiting',
  done: 'done',
  blocked: 'blocked',
  cancelled: 'cancelled',
}
const RECEIPTS: Readonly<Record<string, string>> = { 'feedback-delivered': 'delivered', 'feedback-lost': 'undelivered' }

/** The key of feedback from a source: each piece arrives once. */
export const feedbackKey = (source: string, id: string): string => `source:${source}:${id}`

/** A step of a request, in the words of its source. At its end all feedback that never arrived is told as ignored. */
export function hearingsOf(request: WorkRequest, event: RequestEvent, feedback: readonly Feedback[]): readonly Hearing[] {
  const { source } = request.order
  if (source === null) return []
  const state = STATES[event.kind]
  if (state !== undefined) {
    const report: Hearing = { kind: 'report', report: reportOf(request, event, state) }
    const isEnd = state === 'done' || state === 'blocked' || state === 'cancelled'
    return isEnd
      ? [report, ...feedback.filter((one) => one.state === 'ignored').flatMap((one) => receiptOf(request, one, 'ignored', one.receipt?.why))]
      : [report]
  }
  const receipt = RECEIPTS[event.kind]
  const told = receipt === undefined ? undefined : feedback.find(({ id }) => id === event.detail['id'])
  return receipt === undefined || told === undefined ? [] : receiptOf(request, told, receipt, textIn(event, 'why'))
}

function reportOf(request: WorkRequest, event: RequestEvent, state: RequestState): SourceReport {
  const { order, result } = request
  const isDone = state === 'done' || state === 'blocked'
  return {
    item: order.source?.key ?? '',
    token: order.source?.token ?? null,
    sequence: event.seq,
    at: event.at,
    state,
    reason: textIn(event, 'reason') ?? textIn(event, 'cause'),
    summary: textIn(event, 'summary') ?? textIn(event, 'why'),
    attempt: request.attempt,
    branch: isDone ? (result?.branch ?? request.branch) : null,
    commit: isDone ? (result?.head ?? null) : null,
    pullRequest: null,
  }
}

/** Feedback that was said here is no business of the source. */
function receiptOf({ order }: WorkRequest, { key }: Feedback, state: string, why: string | null | undefined): readonly Hearing[] {
  const prefix = feedbackKey(order.source?.name ?? '', '')
  if (key?.startsWith(prefix) !== true) return []
  return [{ kind: 'receipt', receipt: { item: order.source?.key ?? '', feedback: key.slice(prefix.length), state, why: why ?? null } }]
}

function textIn({ detail }: RequestEvent, name: string): string | null {
  const value = detail[name]
  return typeof value === 'string' ? value : null
}
