import { afterFailure, afterSuccess, feedbackKey, hearingsOf, intake, isDue } from '../../decide/index.ts'
import { sha256 } from '../../lib/index.ts'
import {
  type Called,
  type Clock,
  type OutboxEntry,
  policy,
  type Source,
  type SourceHealth,
  type SourceItem,
  type SourceSettings,
  type Store,
  type WorkRequest,
} from '../../model/index.ts'

export type SourcePorts = {
  readonly source: Source
  readonly settings: SourceSettings
  readonly clock: Pick<Clock, 'now' | 'elapsed'>
  readonly random: () => number
  /** The id of this home: the key of a claim, so that a lost answer makes no second one. */
  readonly install: string
  /** Whether this request is proven to be at work, or to wait for us. */
  readonly isHeld: (request: WorkRequest) => Promise<boolean>
}
export type SourceCounts = { taken: number; closed: number; feedback: number; reported: number; behind: number }
type Round = { health: SourceHealth; readonly counts: SourceCounts }
type Stores = Pick<Store, 'requests' | 'feedback' | 'outbox'>

/**
 * One pass over a source: tell it what happened, prove that our runs live, hear what it wants, and take new work. Every call may fail by itself. A
 * failure of the whole source ends the pass, and the next one comes after a pause. Nothing of a request is changed because a call failed.
 */
export async function sourceRound(ports: SourcePorts, store: Stores, before: SourceHealth): Promise<{ health: SourceHealth; counts: SourceCounts }> {
  const round: Round = { health: before, counts: { taken: 0, closed: 0, feedback: 0, reported: 0, behind: 0 } }
  if (isDue(before, ports.clock.elapsed())) {
    for (const step of [tellReports, askHeld, takeNew]) if (!(await step(ports, store, round))) break
  }
  round.counts.behind = (await store.outbox.state(ports.settings.name)).requests
  return round
}

type Ask = <T>(answer: Called<T>) => T | null

/** Notes what a call came to. Null: it failed. */
const asking =
  ({ clock, random }: SourcePorts, round: Round): Ask =>
  (answer) => {
    const now = clock.elapsed()
    round.health = 'ok' in answer ? afterSuccess(now) : afterFailure(round.health, answer.failed, now, random())
    return 'ok' in answer ? answer.ok : null
  }

const isWell = ({ health }: Round): boolean => health.state === 'ok'

/** Reports come first: the source hears of an end before it is asked for more. */
async function tellReports(ports: SourcePorts, store: Stores, round: Round): Promise<boolean> {
  for (const entry of await store.outbox.due(ports.settings.name, ports.clock.now(), policy.sourceBatch)) {
    await tellRequest(ports, store, round, entry)
    if (!isWell(round)) return false
  }
  return true
}

/** In their order: a step that cannot be told holds up those behind it, and no other request. */
async function tellRequest(ports: SourcePorts, store: Stores, round: Round, { request, events }: OutboxEntry): Promise<void> {
  const { source, settings, clock } = ports
  const feedback = await store.feedback.list(request.id)
  for (const event of events) {
    for (const hearing of hearingsOf(request, event, feedback)) {
      const answer = hearing.kind === 'report' ? await source.report(hearing.report) : await source.receipt(hearing.receipt)
      // An item that the source does not have any more hears nothing.
      const isLost = 'failed' in answer && (answer.failed.kind === 'missing' || answer.failed.kind === 'conflict' || answer.failed.kind === 'gone')
      asking(ports, round)(answer)
      if ('failed' in answer && !isLost) {
        const pause = (round.health.nextAt ?? clock.elapsed()) - clock.elapsed()
        return store.outbox.recordFailed(settings.name, request.id, answer.failed.why, clock.now() + Math.max(0, pause))
      }
    }
    await store.outbox.recordHeard(settings.name, request.id, event.seq)
    round.counts.reported++
  }
}

/** Requests that are open here: does the source still want them, and has somebody said something? */
async function askHeld(ports: SourcePorts, store: Stores, round: Round): Promise<boolean> {
  const { source, settings } = ports
  const open = (await store.requests.list('open', policy.requestsShown)).filter(({ order }) => order.source?.name === settings.name)
  for (const request of open) {
    const token = request.order.source?.token ?? null
    if (token !== null && (await ports.isHeld(request))) {
      const hold = asking(ports, round)(await source.heartbeat(request.order.source?.key ?? '', token))
      if (!isWell(round)) return false
      if (hold !== null && hold.kind !== 'held') await close(ports, store, round, request, hold.kind === 'closed' ? hold.reason : `lost: ${hold.why}`)
      if (hold !== null && hold.kind !== 'held') continue
    }
    const said = asking(ports, round)(await source.feedback(request.order.source?.key ?? ''))
    if (!isWell(round)) return false
    for (const one of said ?? []) {
      const key = feedbackKey(settings.name, one.id)
      const by = one.author === '' ? settings.name : `${one.author} (${settings.name})`
      const text = one.text.slice(0, policy.feedbackChars)
      const added = await store.feedback.add({
        id: `f${sha256(`${request.id} ${key}`).slice(0, 12)}`,
        request: request.id,
        text,
        by,
        key,
        at: ports.clock.now(),
      })
      if (added.kind === 'added') round.counts.feedback++
    }
  }
  return true
}

async function close({ settings, clock }: SourcePorts, store: Stores, round: Round, request: WorkRequest, reason: string): Promise<void> {
  const summary = `${settings.name} closed ${request.order.source?.key ?? 'it'}: ${reason}`
  const at = clock.now()
  if (await store.requests.recordClosing(request.id, { reason: 'source-closed', summary, by: settings.name, at }, at)) round.counts.closed++
}

/** A claim there comes before a request here: an item that others have never becomes ours. */
async function takeNew(ports: SourcePorts, store: Stores, round: Round): Promise<boolean> {
  const { source, settings, install } = ports
  const open = (await store.requests.list('open', policy.requestsShown)).filter(({ order }) => order.source?.name === settings.name).length
  const items = asking(ports, round)(await source.list())
  if (items === null) return false
  const keys = [...new Set(items.flatMap(({ id, blockedBy }) => [id, ...blockedBy]))]
  const known = await store.requests.ofSource(settings.name, keys)
  const stateOf = (key: string): 'open' | 'done' | 'over' | null => {
    const request = known.get(key)
    return request === undefined ? null : request.state === 'done' ? 'done' : request.endedAt === null ? 'open' : 'over'
  }
  for (const choice of intake(items, settings, stateOf, Math.max(0, settings.open - open))) {
    if ('skipped' in choice) continue
    const claim = asking(ports, round)(await source.claim(choice.item.id, `${install}:${choice.item.id}`))
    if (!isWell(round)) return false
    if (claim?.kind !== 'won') continue
    await store.requests.add(requestFrom(ports, choice.item, choice.repo, claim.token))
    round.counts.taken++
  }
  return true
}

/** The same item has the same id everywhere and always. */
function requestFrom({ settings, clock }: SourcePorts, item: SourceItem, repo: string, token: string): Parameters<Store['requests']['add']>[0] {
  const id = `w${sha256(`${settings.name}\n${item.id}`).slice(0, 12)}`
  const labels = item.labels.filter((label) => /^[\w.-]+=[\w.-]+$/.test(label)).map((label) => label.split('=', 2) as [string, string])
  return {
    id,
    order: {
      title: item.title.slice(0, policy.titleChars),
      text: item.text === '' ? item.title : item.text,
      repo,
      harness: settings.harness,
      priority: item.priority,
      labels: Object.fromEntries(labels),
      after: [],
      budget: null,
      timeoutMs: null,
      publish: settings.publish,
      review: settings.review,
      reworkLimit: settings.reworkLimit,
      source: { name: settings.name, key: item.id, token, url: item.url },
      from: null,
      by: settings.name,
    },
    session: `work-${id}`,
    branch: item.branch ?? `holdfast/${id}`,
    waitsFor: null,
    summary: null,
    at: clock.now(),
  }
}
