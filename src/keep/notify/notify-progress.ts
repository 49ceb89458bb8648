import type { Notified, NotifyHistory, NotifyKind } from '../../model/index.ts'
import { NOTIFY_KINDS } from '../../model/index.ts'

/**
 * What a daemon wrote down of what it told, but anything may lie there. What makes no sense beside how far it was told is left out:
 * without that number everything that happened since would be, too.
 */
export function notifiedIn(read: unknown): Notified | null {
  const { seq, at, history } = fieldsOf(read)
  if (!isNumber(seq) || !isNumber(at)) return null
  const { told, later, held } = fieldsOf(history)
  return { seq, at, history: { told: listOf(told).filter(isTold), later: listOf(later).filter(isLater), held: isCount(held) ? held : 0 } }
}

type Told = NotifyHistory['told'][number]
function isTold(one: unknown): one is Told {
  const { at, session, kind } = fieldsOf(one)
  return isNumber(at) && isText(session) && isKind(kind)
}

type Later = NotifyHistory['later'][number]
function isLater(one: unknown): one is Later {
  const { event, kind, count } = fieldsOf(one)
  const { seq, at, session, run, detail } = fieldsOf(event)
  return isKind(kind) && isCount(count) && [seq, at].every(isNumber) && [session, run].every(isText) && isObject(detail)
}

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const isNumber = (value: unknown): value is number => Number.isFinite(value)
const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) > 0
const isText = (value: unknown): value is string => typeof value === 'string'
const isKind = (value: unknown): value is NotifyKind => NOTIFY_KINDS.some((kind) => kind === value)
