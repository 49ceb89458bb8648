import type { HoldfastEvent, Notified, NotifyConfig, NotifyHistory, NotifyKind, Policy, Run } from '../model/index.ts'
import { BY, isByPerson } from '../model/index.ts'

/** An event with what has to be known of its run. */
export type Happening = {
  readonly event: HoldfastEvent
  readonly run: Run | null
  /** A person sits in front of it, and saw it end. */
  readonly watched: boolean
  /** It ends with its answer. */
  readonly headless: boolean
  /** A later event of the same round says what its agent is at now, or that it is over. */
  readonly outdone: boolean
}

type Later = NotifyHistory['later'][number]
export const NOTHING_TOLD: NotifyHistory = { told: [], later: [], held: 0 }

export type NotifyLimits = Pick<Policy, 'turnMs' | 'notifyAgeMs' | 'notifySameMs' | 'notifyCount' | 'notifyWithinMs' | 'notifyQueue'>

export type NotifyDecision = { readonly kind: 'tell'; readonly as: NotifyKind } | { readonly kind: 'leave'; readonly why: string }

/** Is a person told of it? The history that follows says why the next one may not be. */
export function decideNotification(
  happening: Happening,
  config: NotifyConfig,
  history: NotifyHistory,
  now: number,
  limits: NotifyLimits,
): { readonly decision: NotifyDecision; readonly history: NotifyHistory } {
  const news = newsIn(happening, now, limits)
  const { event } = happening
  const recent = lately(withoutAnswered(history, event), now, limits)
  if (news.kind === 'leave') return { decision: news, history: recent }
  const { session } = event
  if (!config.on.includes(news.as)) return { decision: leave('nobody wants to hear of that'), history: recent }
  if (isTooSoon(recent, session, news.as, now, limits) || recent.later.some(isOf(session, news.as)))
    return { decision: leave('of that it was told a moment ago, so it waits'), history: withLater(recent, event, news.as, limits) }
  if (isFull(recent, now, limits)) return { decision: leave('there was too much to tell'), history: { ...recent, held: recent.held + 1 } }
  return { decision: news, history: { ...recent, told: [...recent.told, { at: now, session, kind: news.as }] } }
}

/** What the daemon before this one had still to tell, unless nobody cares any more; a time far ahead, of a clock that was set back, says nothing of that. */
export const historyFrom = (before: Notified | null, now: number, { notifyAgeMs }: NotifyLimits): NotifyHistory =>
  before === null || Math.abs(now - before.at) > notifyAgeMs ? NOTHING_TOLD : before.history

/** What has waited long enough, each session and kind once, with how many it stands for. */
export function nowDue(
  history: NotifyHistory,
  now: number,
  limits: NotifyLimits,
): { readonly due: readonly { readonly event: HoldfastEvent; readonly as: NotifyKind; readonly count: number }[]; readonly history: NotifyHistory } {
  let left = lately(history, now, limits)
  const due = left.later.flatMap((one) => {
    const { event, kind, count } = one
    if (isTooSoon(left, event.session, kind, now, limits) || isFull(left, now, limits)) return []
    left = { ...left, told: [...left.told, { at: now, session: event.session, kind }], later: left.later.filter((other) => other !== one) }
    return [{ event, as: kind, count }]
  })
  return { due, history: left }
}

/** How many wait to be told, for whatever reason. */
export const waitingToBeTold = ({ later, held }: NotifyHistory): number => later.reduce((sum, { count }) => sum + count, held)

/** How many were held back, once there is room to say so; 0: nothing to say. */
export function heldBack(history: NotifyHistory, now: number, limits: NotifyLimits): { readonly count: number; readonly history: NotifyHistory } {
  const recent = lately(history, now, limits)
  if (recent.held === 0 || isFull(recent, now, limits)) return { count: 0, history: recent }
  return { count: recent.held, history: { ...recent, told: [...recent.told, { at: now, session: '', kind: 'finished' }], held: 0 } }
}

const isOf =
  (session: string, kind: NotifyKind) =>
  (one: Later): boolean =>
    one.event.session === session && one.kind === kind

const isTooSoon = ({ told }: NotifyHistory, session: string, kind: NotifyKind, now: number, { notifySameMs }: NotifyLimits): boolean =>
  told.some((one) => one.session === session && one.kind === kind && now - one.at < notifySameMs)

/** That an agent waits is worth telling only while it does: whatever it is at since, or its end, has answered it. */
const withoutAnswered = (history: NotifyHistory, { kind, run }: HoldfastEvent): NotifyHistory =>
  kind !== 'activity' && kind !== 'ended'
    ? history
    : { ...history, later: history.later.filter((one) => one.kind !== 'input' || one.event.run !== run) }

/** Of more than can wait, the oldest are only counted. */
function withLater(history: NotifyHistory, event: HoldfastEvent, kind: NotifyKind, { notifyQueue }: NotifyLimits): NotifyHistory {
  const isSame = isOf(event.session, kind)
  const count = (history.later.find(isSame)?.count ?? 0) + 1
  const all = [...history.later.filter((one) => !isSame(one)), { event, kind, count }]
  const over = all.slice(0, Math.max(0, all.length - notifyQueue))
  return { ...history, later: all.slice(over.length), held: over.reduce((sum, one) => sum + one.count, history.held) }
}

const leave = (why: string): NotifyDecision => ({ kind: 'leave', why })
const tell = (as: NotifyKind): NotifyDecision => ({ kind: 'tell', as })

const isFull = ({ told }: NotifyHistory, now: number, { notifyCount, notifyWithinMs }: NotifyLimits): boolean =>
  told.filter(({ at }) => now - at < notifyWithinMs).length >= notifyCount

/** A clock that was set back makes nobody wait. */
const lately = (history: NotifyHistory, now: number, { notifySameMs, notifyWithinMs }: NotifyLimits): NotifyHistory => ({
  ...history,
  told: history.told.filter(({ at }) => at <= now && now - at < Math.max(notifySameMs, notifyWithinMs)),
})

const FOR_ITS_STARTER = 'it is for the session that started it'

/** What is in it for a person. */
function newsIn({ event, run, watched, headless, outdone }: Happening, now: number, limits: NotifyLimits): NotifyDecision {
  if (now - event.at > limits.notifyAgeMs) return leave('it is too long ago')
  switch (event.kind) {
    case 'activity':
      return outdone ? leave('it has gone on since') : newsOfActivity(event.detail, run, headless, limits)
    case 'refused':
      return tell('refused')
    case 'unwatched':
      return tell('unwatched')
    case 'ended':
      return newsOfEnd(event.detail, run, watched)
    default:
      return leave('it is for the record only')
  }
}

function newsOfActivity(
  { state, before, lasted }: HoldfastEvent['detail'],
  run: Run | null,
  headless: boolean,
  { turnMs }: NotifyLimits,
): NotifyDecision {
  // The same person answers, whoever it was started by.
  if (state === 'waiting') return tell('input')
  // That it went on after an answer may be on nobody's record: the turn goes on from there.
  if (state !== 'idle' || (before !== 'busy' && before !== 'waiting')) return leave('it needs nobody')
  if (run !== null && run.parent !== null) return leave(FOR_ITS_STARTER)
  if (headless) return leave('it takes no other prompt: its end is told')
  return typeof lasted === 'number' && lasted >= turnMs ? tell('input') : leave('its turn was short')
}

function newsOfEnd({ state, by }: HoldfastEvent['detail'], run: Run | null, watched: boolean): NotifyDecision {
  if (by === BY.budget) return tell('budget')
  if ((state === 'stopped' || state === 'superseded') && typeof by === 'string' && isByPerson(by)) return leave('somebody asked for it')
  if (by === BY.orphan) return tell('orphan')
  if (run !== null && run.parent !== null) return leave(FOR_ITS_STARTER)
  return watched && state === 'completed' ? leave('who sat in front of it knows') : tell('finished')
}
