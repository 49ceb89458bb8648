import type { Feedback, FeedbackAnswer, FeedbackEvent, Holds, NewFeedback, Receipt } from '../../model/index.ts'
import { FEEDBACK_TABLE, feedbackStatesThatTake, OPEN_REQUEST_STATES } from '../../model/index.ts'
import type { Database, Row } from '../driver.ts'
import { tell } from './requests.ts'
import { jsonOrNull, textOrNull } from './rows.ts'

const list = (states: readonly string[]): string => states.map((state) => `'${state}'`).join(', ')
const OPEN = list(OPEN_REQUEST_STATES)

const toFeedback = (row: Row): Feedback => ({
  id: String(row['id']),
  seq: Number(row['seq']),
  request: String(row['request']),
  state: String(row['state']) as Feedback['state'],
  text: String(row['text']),
  by: String(row['said_by']),
  key: textOrNull(row['same_key']),
  receipt: jsonOrNull(row['receipt']),
  at: Number(row['at']),
  updatedAt: Number(row['updated_at']),
})

/** Of a request that is over none is kept: it would wait for nobody. */
export function addFeedback(db: Database, { id, request, text, by, key, at }: NewFeedback): FeedbackAnswer {
  const found = db.prepare(`SELECT state IN (${OPEN}) AS open FROM request WHERE id = ?`).get(request)
  if (found === undefined) return { kind: 'unknown', id }
  const known = key === null ? undefined : db.prepare(`SELECT id FROM feedback WHERE request = ? AND same_key = ?`).get(request, key)
  if (known !== undefined) return { kind: 'known', id: String(known['id']) }
  if (found['open'] !== 1) return { kind: 'over', id }
  db.prepare(`INSERT INTO feedback (id, request, state, text, said_by, same_key, at, updated_at) VALUES (?, ?, 'pending', ?, ?, ?, ?, ?)`).run(
    id,
    request,
    text,
    by,
    key,
    at,
    at,
  )
  tell(db, request, 'feedback', { id, by, text }, at)
  return { kind: 'added', id }
}

export const feedbackOf = (db: Database, request: string): Feedback[] =>
  db.prepare(`SELECT * FROM feedback WHERE request = ? ORDER BY seq`).all(request).map(toFeedback)

export function feedback(db: Database, id: string): Feedback | null {
  const row = db.prepare(`SELECT * FROM feedback WHERE id = ?`).get(id)
  return row === undefined ? null : toFeedback(row)
}

/** Whether its request is over is asked here, in the transaction, and not before. */
export function beginFeedback(db: Database, { id, token }: Holds, receipt: Receipt, at: number): Feedback[] {
  if (db.prepare(`SELECT 1 FROM request WHERE id = ? AND token = ? AND closing IS NULL AND state IN (${OPEN})`).get(id, token) === undefined)
    return []
  const waiting = feedbackOf(db, id).filter(({ state }) => FEEDBACK_TABLE[state].began !== 'refused')
  for (const one of waiting) record(db, one, 'began', receipt, at)
  return feedbackOf(db, id).filter((one) => waiting.some((begun) => begun.id === one.id))
}

export function recordFeedback(db: Database, id: string, event: FeedbackEvent, receipt: Receipt | null, at: number): boolean {
  const found = feedback(db, id)
  return found !== null && record(db, found, event, receipt, at)
}

/** Delivered is what was, whatever its request has become; everything else asks whether that is open. */
function record(db: Database, { id, request, state }: Feedback, event: FeedbackEvent, receipt: Receipt | null, at: number): boolean {
  const next = FEEDBACK_TABLE[state][event]
  if (next === 'refused') return false
  const { changes } = db
    .prepare(
      `UPDATE feedback SET state = ?, receipt = coalesce(?, receipt), updated_at = ? WHERE id = ? AND state IN (${list(feedbackStatesThatTake(event))})
       AND EXISTS (SELECT 1 FROM request q WHERE q.id = feedback.request AND q.state IN (${OPEN}))`,
    )
    .run(next, receipt && JSON.stringify(receipt), at, id)
  if (Number(changes) === 0) return false
  tell(db, request, `feedback-${event}`, { id, ...receipt }, at)
  return true
}
