import type {
  AddAnswer,
  Closing,
  Holds,
  NewRequest,
  Pause,
  Placed,
  Release,
  RequestClaim,
  RequestEnding,
  RequestEvent,
  RequestEventName,
  RequestTrouble,
  WorkRequest,
  WorkResult,
} from '../../model/index.ts'
import { OPEN_REQUEST_STATES, requestStatesThatTake } from '../../model/index.ts'
import type { Database, Row, SqlValue } from '../driver.ts'
import { json, jsonOrNull, numberOrNull, textOrNull } from './rows.ts'

// Each function is the body of one transaction. The conditions come from the model's table.

const list = (states: readonly string[]): string => states.map((state) => `'${state}'`).join(', ')
const OPEN = list(OPEN_REQUEST_STATES)
const takes = (event: RequestEventName): string => list(requestStatesThatTake(event))
const text = (value: unknown): string => JSON.stringify(value)

const PENDING = `(SELECT count(*) FROM feedback f WHERE f.request = q.id AND f.state IN ('pending', 'delivering')) AS pending`
const VIEW = `SELECT q.*, ${PENDING} FROM request q`

const toRequest = (row: Row): WorkRequest => ({
  id: String(row['id']),
  order: json(row['work']),
  state: String(row['state']) as WorkRequest['state'],
  cause: textOrNull(row['cause']) as WorkRequest['cause'],
  reason: textOrNull(row['reason']) as WorkRequest['reason'],
  summary: textOrNull(row['summary']),
  token: Number(row['token']),
  attempt: Number(row['attempt']),
  rework: Number(row['rework']),
  claimant: jsonOrNull(row['claimant']),
  session: String(row['session']),
  seenEpoch: Number(row['seen_epoch']),
  run: textOrNull(row['run']),
  dir: textOrNull(row['dir']),
  branch: textOrNull(row['branch']),
  base: textOrNull(row['base']),
  result: jsonOrNull(row['result']),
  closing: jsonOrNull(row['closing']),
  trouble: jsonOrNull(row['trouble']),
  dueAt: numberOrNull(row['due_at']),
  createdAt: Number(row['created_at']),
  updatedAt: Number(row['updated_at']),
  endedAt: numberOrNull(row['ended_at']),
  pending: Number(row['pending']),
})

/** A line of a request's story, in the transaction of what it tells. */
export function tell(db: Database, request: string, kind: string, detail: Readonly<Record<string, unknown>>, at: number): void {
  db.prepare(`INSERT INTO request_event (request, at, kind, detail) VALUES (?, ?, ?, ?)`).run(request, at, kind, text(detail))
}

export function add(db: Database, request: NewRequest): AddAnswer {
  const { id, order, session, branch, waitsFor, summary, at } = request
  const key = order.source === null ? null : `${order.source.name}\n${order.source.key}`
  const known = key === null ? undefined : db.prepare(`SELECT id FROM request WHERE source_key = ?`).get(key)
  if (known !== undefined) return { kind: 'known', id: String(known['id']) }
  db.prepare(
    `INSERT INTO request (id, state, cause, summary, work, priority, source_key, token, attempt, rework, session, seen_epoch, branch, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, 0, ?, ?, ?)`,
  ).run(id, waitsFor === null ? 'queued' : 'waiting', waitsFor, summary, text(order), order.priority, key, session, branch, at, at)
  tell(db, id, 'added', { by: order.by, title: order.title }, at)
  return { kind: 'added', id }
}

export function get(db: Database, id: string): WorkRequest | null {
  const row = db.prepare(`${VIEW} WHERE q.id = ?`).get(id)
  return row === undefined ? null : toRequest(row)
}

const LISTS = {
  open: `WHERE q.state IN (${OPEN}) ORDER BY q.priority IS NULL, q.priority, q.created_at, q.id`,
  all: `ORDER BY q.created_at DESC, q.id`,
  ended: `WHERE q.ended_at IS NOT NULL ORDER BY q.ended_at DESC, q.id`,
} as const

export const requests = (db: Database, which: keyof typeof LISTS, limit: number): WorkRequest[] =>
  db.prepare(`${VIEW} ${LISTS[which]} LIMIT ?`).all(limit).map(toRequest)

export function ofSource(db: Database, source: string, keys: readonly string[]): ReadonlyMap<string, WorkRequest> {
  const asked = db.prepare(`${VIEW} WHERE q.source_key = ?`)
  return new Map(
    keys.flatMap((key) => {
      const row = asked.get(`${source}\n${key}`)
      return row === undefined ? [] : [[key, toRequest(row)] as const]
    }),
  )
}

export function ofRun(db: Database, run: string): WorkRequest | null {
  const row = db.prepare(`${VIEW} WHERE q.run = ? ORDER BY q.created_at DESC LIMIT 1`).get(run)
  return row === undefined ? null : toRequest(row)
}

export const story = (db: Database, id: string, limit: number): RequestEvent[] =>
  db.prepare(`SELECT * FROM (SELECT * FROM request_event WHERE request = ? ORDER BY seq DESC LIMIT ?) ORDER BY seq`).all(id, limit).map(toEvent)

/** The next steps of its story. */
export const eventsAfter = (db: Database, id: string, seq: number, limit: number): RequestEvent[] =>
  db.prepare(`SELECT * FROM request_event WHERE request = ? AND seq > ? ORDER BY seq LIMIT ?`).all(id, seq, limit).map(toEvent)

const toEvent = (row: Row): RequestEvent => ({
  seq: Number(row['seq']),
  request: String(row['request']),
  at: Number(row['at']),
  kind: String(row['kind']),
  detail: json(row['detail']),
})

export const newestClaim = (db: Database): number =>
  Number(db.prepare(`SELECT max(seq) AS seq FROM request_event WHERE kind = 'claimed'`).get()?.['seq'] ?? 0)

/** Whoever looked at the limits before another claim looks again. */
export function claim(db: Database, { id, token, seenClaim, seenEpoch, claimant, at }: RequestClaim): number | null {
  if (newestClaim(db) !== seenClaim) return null
  const won = changed(
    db,
    `UPDATE request SET state = 'claimed', token = token + 1, attempt = attempt + 1, claimant = ?, seen_epoch = ?, run = NULL, due_at = NULL,
     cause = NULL, summary = NULL, updated_at = ? WHERE id = ? AND token = ? AND closing IS NULL AND state IN (${takes('claimed')})`,
    [text(claimant), seenEpoch, at, id, token],
  )
  if (!won) return null
  tell(db, id, 'claimed', { token: token + 1, pid: claimant.process.pid, host: claimant.host }, at)
  return token + 1
}

export const recordPlaced = (db: Database, holds: Holds, { dir, branch, base }: Placed, at: number): boolean =>
  write(db, holds, OPEN, { dir, branch, base }, at) && told(db, holds.id, 'placed', { dir, branch, base }, at)

export const recordStarted = (db: Database, holds: Holds, run: string, at: number): boolean =>
  write(db, holds, takes('started'), { state: 'running', run, trouble: null }, at) && told(db, holds.id, 'started', { run }, at)

export const recordResult = (db: Database, holds: Holds, result: WorkResult, at: number): boolean =>
  write(db, holds, OPEN, { result: text(result) }, at) && told(db, holds.id, 'result', { ...result }, at)

export const recordReleased = (db: Database, holds: Holds, { why, dueAt, counts }: Release, at: number): boolean =>
  write(
    db,
    holds,
    takes('released'),
    { state: 'queued', due_at: dueAt, summary: why, claimant: null },
    at,
    counts ? '' : ', attempt = attempt - 1',
  ) && told(db, holds.id, 'released', { why, dueAt, counts }, at)

export const recordPaused = (db: Database, holds: Holds, { cause, summary, dueAt }: Pause, at: number): boolean =>
  write(db, holds, takes('paused'), { state: 'waiting', cause, summary, due_at: dueAt, claimant: null }, at) &&
  told(db, holds.id, 'waiting', { cause, summary, dueAt }, at)

export const recordDue = (db: Database, holds: Holds, { why, rework }: { why: string; rework: boolean }, at: number): boolean =>
  write(
    db,
    holds,
    takes('due'),
    { state: 'queued', cause: null, summary: null, due_at: null },
    at,
    rework ? ', attempt = 0, rework = rework + 1, result = NULL' : '',
  ) && told(db, holds.id, 'due', { why, rework }, at)

export const recordTrouble = (db: Database, holds: Holds, trouble: RequestTrouble | null, dueAt: number | null, at: number): boolean =>
  write(db, holds, OPEN, { trouble: trouble && text(trouble), due_at: dueAt }, at) &&
  (trouble === null || trouble.times > 1 || told(db, holds.id, 'trouble', { ...trouble }, at))

/** One transaction with its feedback: what has not arrived by now never will. */
export function recordEnded(db: Database, holds: Holds, { state, reason, summary, by }: RequestEnding, at: number): boolean {
  const won = write(db, holds, takes(state), { state, reason, summary, cause: null, due_at: null, claimant: null, ended_at: at }, at)
  if (!won) return false
  ignoreFeedback(db, holds.id, reason, at)
  return told(db, holds.id, state, { reason, summary, by }, at)
}

/** The first stands. A worker that is just about to start it finds it before or after that. */
export function recordClosing(db: Database, id: string, closing: Closing, at: number): boolean {
  const won = changed(db, `UPDATE request SET closing = ?, updated_at = ? WHERE id = ? AND closing IS NULL AND state IN (${OPEN})`, [
    text(closing),
    at,
    id,
  ])
  if (won) tell(db, id, 'closing', { ...closing }, at)
  return won || db.prepare(`SELECT 1 FROM request WHERE id = ? AND state IN (${OPEN})`).get(id) !== undefined
}

export function forget(db: Database, { endedBefore, limit }: { readonly endedBefore: number; readonly limit: number }): string[] {
  const ids = db
    .prepare(`SELECT id FROM request WHERE ended_at IS NOT NULL AND ended_at < ? ORDER BY ended_at LIMIT ?`)
    .all(endedBefore, limit)
    .map((row) => String(row['id']))
  for (const id of ids) {
    db.prepare(`DELETE FROM request_event WHERE request = ?`).run(id)
    db.prepare(`DELETE FROM feedback WHERE request = ?`).run(id)
    db.prepare(`DELETE FROM outbox WHERE request = ?`).run(id)
    db.prepare(`DELETE FROM request WHERE id = ? AND ended_at IS NOT NULL`).run(id)
  }
  return ids
}

function ignoreFeedback(db: Database, request: string, reason: string, at: number): void {
  const why = text({ way: 'run', run: null, epoch: null, message: null, why: `its request is over: ${reason}` })
  db.prepare(
    `UPDATE feedback SET state = 'ignored', receipt = ?, updated_at = ? WHERE request = ? AND state IN ('pending', 'delivering', 'undelivered')`,
  ).run(why, at, request)
}

/** `more`: columns that grow. */
function write(db: Database, { id, token }: Holds, states: string, values: Readonly<Record<string, SqlValue>>, at: number, more = ''): boolean {
  const names = Object.keys(values)
  const sql = `UPDATE request SET ${names.map((name) => `${name} = ?`).join(', ')}, updated_at = ?${more} WHERE id = ? AND token = ? AND state IN (${states})`
  return changed(db, sql, [...Object.values(values), at, id, token])
}

function told(db: Database, id: string, kind: string, detail: Readonly<Record<string, unknown>>, at: number): true {
  tell(db, id, kind, detail, at)
  return true
}

const changed = (db: Database, sql: string, values: readonly SqlValue[]): boolean => Number(db.prepare(sql).run(...values).changes) > 0
