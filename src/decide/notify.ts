import type { HoldfastEvent, NotifyConfig, NotifyKind, Policy, Run } from '../model/index.ts'
import { BY, isByPerson } from '../model/index.ts'

/** An event with what has to be known of its run. */
export type Happening = {
  readonly event: HoldfastEvent
  readonly run: Run | null
  /** A person sits in front of it, and saw it end. */
  readonly watched: boolean
  /** A later event of the same round says what its agent is at now. */
  readonly outdone: boolean
}

/** What was told lately, and how many there was no time for. */
export type NotifyHistory = { readonly told: readonly Told[]; readonly held: number }
type Told = { readonly at: number; readonly session: string; readonly kind: NotifyKind }
export const NOTHING_TOLD: NotifyHistory = { told: [], held: 0 }

export type NotifyLimits = Pick<Policy, 'turnMs' | 'notifyAgeMs' | 'notifySameMs' | 'notifyCount' | 'notifyWithinMs'>

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
  if (news.kind === 'leave') return { decision: news, history }
  const recent = lately(history, now, limits)
  const { session } = happening.event
  if (!config.on.includes(news.as)) return { decision: leave('nobody wants to hear of that'), history: recent }
  const isSame = (one: Told): boolean => one.session === session && one.kind === news.as && now - one.at < limits.notifySameMs
  if (recent.told.some(isSame)) return { decision: leave('it was told a moment ago'), history: recent }
  if (isFull(recent, now, limits)) return { decision: leave('there was too much to tell'), history: { ...recent, held: recent.held + 1 } }
  return { decision: news, history: { ...recent, told: [...recent.told, { at: now, session, kind: news.as }] } }
}

/** How many were held back, once there is room to say so; 0: nothing to say. */
export function heldBack(history: NotifyHistory, now: number, limits: NotifyLimits): { readonly count: number; readonly history: NotifyHistory } {
  const recent = lately(history, now, limits)
  if (recent.held === 0 || isFull(recent, now, limits)) return { count: 0, history: recent }
  return { count: recent.held, history: { told: [...recent.told, { at: now, session: '', kind: 'finished' }], held: 0 } }
}

const leave = (why: string): NotifyDecision => ({ kind: 'leave', why })
const tell = (as: NotifyKind): NotifyDecision => ({ kind: 'tell', as })

const isFull = ({ told }: NotifyHistory, now: number, { notifyCount, notifyWithinMs }: NotifyLimits): boolean =>
  told.filter(({ at }) => now - at < notifyWithinMs).length >= notifyCount

/** A clock that was set back makes nobody wait. */
const lately = ({ told, held }: NotifyHistory, now: number, { notifySameMs, notifyWithinMs }: NotifyLimits): NotifyHistory => ({
  told: told.filter(({ at }) => at <= now && now - at < Math.max(notifySameMs, notifyWithinMs)),
  held,
})

/** What is in it for a person. */
function newsIn({ event, run, watched, outdone }: Happening, now: number, limits: NotifyLimits): NotifyDecision {
  if (now - event.at > limits.notifyAgeMs) return leave('it is too long ago')
  switch (event.kind) {
    case 'activity':
      return outdone ? leave('it has gone on since') : newsOfActivity(event.detail, limits)
    case 'refused':
      return tell('refused')
    case 'ended':
      return newsOfEnd(event.detail, run, watched)
    default:
      return leave('it is for the record only')
  }
}

function newsOfActivity({ state, before, lasted }: HoldfastEvent['detail'], { turnMs }: NotifyLimits): NotifyDecision {
  if (state === 'waiting') return tell('input')
  if (state !== 'idle' || before !== 'busy') return leave('it needs nobody')
  return typeof lasted === 'number' && lasted >= turnMs ? tell('input') : leave('its turn was short')
}

function newsOfEnd({ state, by }: HoldfastEvent['detail'], run: Run | null, watched: boolean): NotifyDecision {
  if (by === BY.budget) return tell('budget')
  if ((state === 'stopped' || state === 'superseded') && typeof by === 'string' && isByPerson(by)) return leave('somebody asked for it')
  if (by === BY.orphan) return tell('orphan')
  if (run !== null && run.parent !== null) return leave('it is for the session that started it')
  return watched && state === 'completed' ? leave('who sat in front of it knows') : tell('finished')
}
