import type { Feedback, RequestEvent, RequestState, WorkRequest } from '../model/index.ts'
import { isOpen } from '../model/index.ts'
import { type Page, tilde, WIDE, wrapped } from './page.ts'
import { type Paint, plain } from './paint.ts'
import { type Cell, shorten, table } from './table.ts'
import { age, iso } from './time.ts'
import { tokensShort } from './usage.ts'
import { storyText } from './work-story.ts'

/** A request as it stands on the board. `followedBy`: the request that repeats it or goes on with it. */
export type RequestView = {
  readonly request: WorkRequest
  readonly column: 'needs-you' | 'running' | 'queued' | 'waiting' | 'done' | 'cancelled'
  readonly followedBy: string | null
  readonly feedback: readonly Feedback[]
}
export type RequestStory = RequestView & { readonly story: readonly RequestEvent[] }

/** The stable object of `work add --json`, of each entry of `work ls --json`, and of others. */
export function requestJson({ request, followedBy, feedback }: RequestView): Record<string, unknown> {
  const { order, result, closing, trouble } = request
  return {
    id: request.id,
    state: request.state,
    cause: request.cause,
    reason: request.reason,
    summary: request.summary,
    title: order.title,
    text: order.text,
    repo: order.repo,
    harness: order.harness,
    priority: order.priority,
    labels: order.labels,
    after: order.after,
    budget: order.budget,
    timeoutMs: order.timeoutMs,
    publish: order.publish,
    review: order.review,
    reworkLimit: order.reworkLimit,
    source: order.source === null ? null : { name: order.source.name, key: order.source.key, url: order.source.url ?? null },
    from: order.from,
    followedBy,
    by: order.by,
    dir: request.dir,
    branch: request.branch,
    base: request.base,
    token: request.token,
    attempt: request.attempt,
    rework: request.rework,
    session: request.session,
    run: request.run,
    result: result && { ...result, at: iso(result.at) },
    closing: closing && { ...closing, at: iso(closing.at) },
    trouble: trouble && { ...trouble, at: iso(trouble.at) },
    dueAt: iso(request.dueAt),
    createdAt: iso(request.createdAt),
    updatedAt: iso(request.updatedAt),
    endedAt: iso(request.endedAt),
    feedback: feedback.map(feedbackJson),
  }
}

/** The stable object of each feedback. */
export const feedbackJson = ({ id, request, state, text, by, key, receipt, at, updatedAt }: Feedback): Record<string, unknown> => ({
  id,
  request,
  state,
  text,
  by,
  key,
  way: receipt?.way ?? null,
  run: receipt?.run ?? null,
  why: receipt?.why ?? null,
  at: iso(at),
  updatedAt: iso(updatedAt),
})

/** The stable object of `work show --json`: the same, and all that happened. */
export const requestStoryJson = (view: RequestStory): Record<string, unknown> => ({
  ...requestJson(view),
  story: view.story.map(({ seq, at, kind, detail }) => ({ seq, at: iso(at), kind, detail })),
})

const HEADINGS: Readonly<Record<RequestView['column'], string>> = {
  'needs-you': 'needs you',
  running: 'running',
  queued: 'queued',
  waiting: 'waiting',
  done: 'done',
  cancelled: 'over',
}
const TITLE_WIDTH = 48
const LEAST_TITLE = 12
/** Id, the longest state and the age, with their gaps. */
const BEFORE_TITLE = 50

/** `work ls`: a line each, below the column that it is in. `left`: those that ended long ago. */
export function boardText(views: readonly RequestView[], left: number, now: number, paint: Paint, page: Page = WIDE): string[] {
  const more = left === 0 ? [] : [paint.dim(`${left} more ended long ago: holdfast work ls --all`)]
  if (views.length === 0) return [paint.dim('no requests'), ...more]
  const lines = table(views.map((view) => rowOf(view, now, paint, page)))
  return [
    ...views.flatMap((view, index) => {
      const begins = views[index - 1]?.column !== view.column
      const count = views.filter(({ column }) => column === view.column).length
      return [...(begins ? [paint.dim(`${HEADINGS[view.column]} (${count})`)] : []), `  ${lines[index] ?? ''}`, ...detailOf(view, now, paint, page)]
    }),
    ...more,
  ]
}

/** On a terminal the sentence stands below its request, and wraps between words. */
function detailOf(view: RequestView, now: number, paint: Paint, page: Page): string[] {
  const detail = tilde(plain(lastColumn(view, now)), page)
  return page.columns === null || detail === '' ? [] : wrapped(`    ${detail}`, page.columns, 4).map(paint.dim)
}

const rowOf = (view: RequestView, now: number, paint: Paint, { columns }: Page): Cell[] => [
  { text: view.request.id, paint: paint.bold },
  { text: stateText(view.request), paint: colourOf(view, paint) },
  { text: age(now - (view.request.endedAt ?? view.request.createdAt)) },
  { text: shorten(plain(view.request.order.title), columns === null ? TITLE_WIDTH : Math.max(LEAST_TITLE, columns - BEFORE_TITLE)) },
  ...(columns === null ? [{ text: plain(lastColumn(view, now)), paint: paint.dim }] : []),
]

const stateText = ({ state, cause, reason }: WorkRequest): string => {
  const why = state === 'waiting' ? cause : state === 'blocked' ? reason : null
  return why === null ? state : `${state} · ${why}`
}

const COLOURS: Readonly<Record<RequestState, keyof Paint>> = {
  queued: 'dim',
  claimed: 'green',
  running: 'green',
  waiting: 'yellow',
  done: 'cyan',
  blocked: 'red',
  cancelled: 'dim',
}
const colourOf = ({ request, column }: RequestView, paint: Paint): ((text: string) => string) =>
  paint[column === 'cancelled' ? 'dim' : COLOURS[request.state]]

function lastColumn({ request, followedBy }: RequestView, now: number): string {
  if (followedBy !== null) return `${followedBy} follows it`
  if (request.closing !== null && isOpen(request)) return `it is being ended: ${request.closing.summary}`
  if (request.trouble !== null && isOpen(request)) return `${request.trouble.step} failed: ${request.trouble.why}${againText(request, now)}`
  const tried = request.attempt > 1 ? `attempt ${request.attempt}, ` : ''
  if (request.state === 'running') return `${tried}session ${request.session}`
  return `${request.summary ?? ''}${isOpen(request) ? againText(request, now) : ''}`
}

const againText = ({ dueAt }: WorkRequest, now: number): string => (dueAt === null || dueAt <= now ? '' : `; again in ${age(dueAt - now)}`)

/** `work show`: what was asked for, how it stands, and what happened, in order. */
export function requestText(view: RequestStory, now: number, paint: Paint): string[] {
  const { request, feedback, followedBy } = view
  const { order, result } = request
  const facts: [string, string | null][] = [
    ['repository', plain(order.repo)],
    ['agent', order.harness],
    ['branch', request.branch === null ? null : plain(request.branch)],
    ['worktree', request.dir === null ? null : plain(request.dir)],
    ['session', request.run === null ? null : `${request.session} (run ${request.run})`],
    [
      'attempt',
      request.attempt === 0 ? null : `${request.attempt}${request.rework === 0 ? '' : `, after feedback ${request.rework} of ${order.reworkLimit}`}`,
    ],
    ['priority', order.priority === null ? null : String(order.priority)],
    [
      'labels',
      Object.entries(order.labels)
        .map(([key, value]) => plain(`${key}=${value}`))
        .join(', ') || null,
    ],
    ['after', order.after.join(', ') || null],
    ['limits', limitsText(order)],
    ['from', order.from === null ? null : `${order.from.how} of ${order.from.request}`],
    ['source', order.source === null ? null : plain(`${order.source.name} ${order.source.key}${order.source.url ? ` (${order.source.url})` : ''}`)],
    ['result', result === null ? null : plain(result.text)],
    [
      'commits',
      result === null || result.commits === 0
        ? null
        : `${result.commits}${result.published === null ? '' : `, pushed to ${plain(result.published)}`}`,
    ],
    ['followed by', followedBy],
  ]
  const shown = facts.filter((fact): fact is [string, string] => fact[1] !== null)
  return [
    `${paint.bold(request.id)} ${colourOf(view, paint)(stateText(request))}  ${plain(order.title)}`,
    ...(request.summary === null ? [] : [`  ${plain(request.summary)}`]),
    ...table(shown.map(([name, text]): Cell[] => [{ text: `  ${name}`, paint: paint.dim }, { text }])),
    ...(order.text === order.title ? [] : ['', ...order.text.split('\n').map((line) => `  ${plain(line)}`)]),
    ...(feedback.length === 0 ? [] : ['', paint.dim('feedback'), ...feedbackLines(feedback, now)]),
    '',
    paint.dim('story'),
    ...storyText(view.story, paint),
  ]
}

const limitsText = ({ budget, timeoutMs }: WorkRequest['order']): string | null =>
  [
    ...(budget === null ? [] : [`${tokensShort({ input: budget, output: 0, cacheRead: 0, cacheWrite: 0, cost: null })} tokens`]),
    ...(timeoutMs === null ? [] : [age(timeoutMs)]),
  ].join(', ') || null

/** Its state, who said it, and the text, which may have several lines. */
export const feedbackLines = (feedback: readonly Feedback[], now: number): string[] =>
  feedback.flatMap(({ id, state, by, at, text, receipt }) => [
    `  ${id} ${state} · ${plain(by)} · ${age(now - at)} ago${receipt === null || receipt.why === '' ? '' : ` · ${plain(receipt.why)}`}`,
    ...text.split('\n').map((line) => `    ${plain(line)}`),
  ])

/** `work add`: what was put into the queue. */
export const requestAddedText = ({ request }: RequestView): string[] => [
  `${request.id} is in the queue: ${plain(request.order.title)}`,
  `  ${request.order.harness} works on it in ${plain(request.order.repo)}${request.summary === null ? '' : `; ${plain(request.summary)}`}`,
  `  holdfast work show ${request.id} tells how it stands`,
]
