import {
  type Called,
  type CallFailure,
  type FeedbackReceipt,
  policy,
  type Source,
  type SourceClaim,
  type SourceFeedback,
  type SourceHold,
  type SourceItem,
  type SourceReport,
} from '../../model/index.ts'
import { type CallAnswer, call } from '../call.ts'
import { fillBody, fillPath, type Words } from './fill.ts'
import { listAt, numberAt, textAt, timeAt, wordsAt } from './pick.ts'
import type { HttpProfile, HttpRoute } from './profile.ts'

/** `token` is asked for at each call, so that a changed secret needs no restart. */
export type HttpSourceConfig = {
  readonly name: string
  readonly url: string
  readonly token: () => Promise<string | null>
  readonly host: string
  readonly worker: string
}
type Answer = { readonly status: number; readonly body: unknown }

/** A control plane that speaks the protocol of docs/reference/http-source.md, or a profile of it. */
export function httpSource(config: HttpSourceConfig, profile: HttpProfile): Source {
  const { routes } = profile
  const ask = (route: HttpRoute, words: Words, key?: string): Promise<Called<Answer>> => askRoute(config, route, words, key)
  return {
    name: config.name,
    kind: 'http',
    list: () => listAll(profile, ask),
    look: async (item) => then(await ask(routes.look, { item }), ({ body }) => itemFrom(body, profile)),
    claim: async (item, key) => claimFrom(await ask(routes.claim, { item, host: config.host, worker: config.worker }, key), profile),
    heartbeat: async (item, token) =>
      routes.heartbeat === null ? { ok: { kind: 'held' } } : holdFrom(await ask(routes.heartbeat, { item, token, host: config.host }), profile),
    feedback: async (item) =>
      routes.feedback === null ? { ok: [] } : then(await ask(routes.feedback, { item }), ({ body }) => feedbackFrom(body, profile)),
    report: async (report) => reportedFrom(await ask(routes.report, reportWords(report, profile, config), `${report.item}:${report.sequence}`)),
    receipt: async (receipt) =>
      routes.receipt === null
        ? { ok: 'taken' }
        : then(await ask(routes.receipt, receiptWords(receipt), `${receipt.item}:${receipt.feedback}:${receipt.state}`), () => 'taken' as const),
  }
}

async function askRoute(config: HttpSourceConfig, route: HttpRoute, words: Words, key?: string): Promise<Called<Answer>> {
  const token = await config.token().catch((error: Error) => error)
  if (token instanceof Error) return { failed: { kind: 'unauthorized', status: null, retryAfterMs: null, why: token.message } }
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'holdfast', 'holdfast-protocol': '1' }
  if (token !== null) headers['authorization'] = `Bearer ${token}`
  if (route.body !== undefined) headers['content-type'] = 'application/json'
  if (route.keyed === true && key !== undefined) headers['idempotency-key'] = key
  const url = `${config.url.replace(/\/+$/, '')}/${fillPath(route.path, words)}`
  const body = route.body === undefined ? {} : { body: JSON.stringify(fillBody(route.body, words)) }
  const answer = await call({ url, method: route.method, headers, ...body })
  return 'failed' in answer ? answer : parsed(answer.ok)
}

function parsed({ status, text }: CallAnswer): Called<Answer> {
  if (text.trim() === '') return { ok: { status, body: {} } }
  try {
    return { ok: { status, body: JSON.parse(text) as unknown } }
  } catch {
    return garbage('its answer is no JSON')
  }
}

const garbage = (why: string): { readonly failed: CallFailure } => ({ failed: { kind: 'garbage', status: null, retryAfterMs: null, why } })

/** A part of the answer that cannot be read makes the whole answer garbage: half of a list would look like the end of what is missing. */
function then<T>(answer: Called<Answer>, read: (answer: Answer) => T): Called<T> {
  if ('failed' in answer) return answer
  try {
    return { ok: read(answer.ok) }
  } catch (error) {
    return garbage((error as Error).message)
  }
}

async function listAll(
  profile: HttpProfile,
  ask: (route: HttpRoute, words: Words) => Promise<Called<Answer>>,
): Promise<Called<readonly SourceItem[]>> {
  const items: SourceItem[] = []
  let cursor: string | null = null
  for (let page = 0; page < policy.sourcePages; page++) {
    const answer = await ask(profile.routes.list, { cursor })
    if ('failed' in answer) return answer
    const found = listAt(answer.ok.body, profile.list.items)
    if (found === null) return garbage(`its list has no '${profile.list.items}'`)
    const read = then(answer, () => found.map((entry) => itemFrom(entry, profile)))
    if ('failed' in read) return read
    items.push(...read.ok)
    const next: string | null = profile.list.next === null ? null : textAt(answer.ok.body, profile.list.next)
    if (next === null || next === '' || next === cursor) return { ok: items }
    cursor = next
  }
  return garbage(`its list has more than ${policy.sourcePages} pages`)
}

function itemFrom(entry: unknown, { item, open, closed }: HttpProfile): SourceItem {
  const id = textAt(entry, item.id)
  const state = textAt(entry, item.state)
  if (id === null || id === '' || id.length > policy.sourceIdChars) throw new Error(`an item has no usable '${item.id}'`)
  if (state === null || !(open.includes(state) || closed.includes(state)))
    throw new Error(`item ${id} has the state '${state ?? ''}', which is not known`)
  return {
    id,
    title: textAt(entry, item.title) ?? id,
    text: textAt(entry, item.text) ?? '',
    url: textAt(entry, item.url),
    repository: textAt(entry, item.repository),
    branch: textAt(entry, item.branch),
    labels: wordsAt(entry, item.labels),
    priority: numberAt(entry, item.priority),
    blockedBy: wordsAt(entry, item.blockedBy),
    state,
    closed: closed.includes(state) ? (textAt(entry, item.reason) ?? state) : null,
    createdAt: timeAt(entry, item.createdAt),
  }
}

/** 409 is the answer of a lost race, and no failure. */
function claimFrom(answer: Called<Answer>, { claim }: HttpProfile): Called<SourceClaim> {
  if ('failed' in answer) return answer.failed.kind === 'conflict' ? { ok: { kind: 'lost', why: answer.failed.why } } : answer
  const token = textAt(answer.ok.body, claim.token)
  if (token === null || token === '') return garbage(`its claim has no '${claim.token}'`)
  const lease = numberAt(answer.ok.body, claim.leaseSeconds)
  return { ok: { kind: 'won', token, leaseMs: lease === null ? null : lease * 1000 } }
}

function holdFrom(answer: Called<Answer>, { item, closed }: HttpProfile): Called<SourceHold> {
  if ('failed' in answer) {
    const { kind, why } = answer.failed
    if (kind === 'conflict') return { ok: { kind: 'lost', why } }
    return kind === 'gone' ? { ok: { kind: 'closed', reason: 'gone' } } : answer
  }
  const state = textAt(answer.ok.body, item.state)
  return {
    ok: state !== null && closed.includes(state) ? { kind: 'closed', reason: textAt(answer.ok.body, item.reason) ?? state } : { kind: 'held' },
  }
}

function feedbackFrom(body: unknown, { feedback }: HttpProfile): readonly SourceFeedback[] {
  const found = listAt(body, feedback.items)
  if (found === null) throw new Error(`its feedback has no '${feedback.items}'`)
  return found.map((entry) => {
    const [id, text] = [textAt(entry, feedback.id), textAt(entry, feedback.text)]
    if (id === null || id === '' || text === null) throw new Error('a piece of feedback has no id or text')
    return { id, text, author: textAt(entry, feedback.author) ?? '', at: timeAt(entry, feedback.at) }
  })
}

/** A stale token, or an item that is over on the other side: its word stands, and is never written over. */
function reportedFrom(answer: Called<Answer>): Called<'taken' | 'stale'> {
  if ('ok' in answer) return { ok: 'taken' }
  return answer.failed.kind === 'conflict' || answer.failed.kind === 'gone' ? { ok: 'stale' } : answer
}

const reportWords = (report: SourceReport, { states }: HttpProfile, { host }: HttpSourceConfig): Words => ({
  ...report,
  host,
  at: new Date(report.at).toISOString(),
  state: states[report.state] ?? report.state,
})

const receiptWords = ({ item, feedback, state, why }: FeedbackReceipt): Words => ({ item, feedback, state, why })
