import type { Message, NewMessage, RunBase, Said, Saying, SayingKind, Sent } from '../../model/index.ts'
import { isLive } from '../../model/index.ts'
import type { Database, Row } from '../driver.ts'
import { recordEvent } from './events.ts'
import { find } from './reads.ts'
import { LIVE } from './rows.ts'

/** To whom it went is settled here: who is no live session any more, or has too many unread ones, does not get it. */
export function send(db: Database, message: NewMessage): Sent {
  const { at, expiresAt, from, to, text, readers, inboxSize } = message
  forgetExpired(db, at)
  const reached: Reader[] = []
  const full: string[] = []
  const gone: string[] = []
  for (const reader of new Set(readers)) {
    // It may have got another id since it was looked for.
    const found = find(db, reader, 'exact')
    const run = found.kind === 'found' ? found.view.run : null
    if (run === null || !isLive(run)) gone.push(reader)
    else if (unread(db, run.session, at) >= inboxSize) full.push(run.session)
    else if (!reached.some(({ id }) => id === run.id)) reached.push(run)
  }
  if (reached.length === 0) return { seq: null, reached: [], full, gone }
  const { lastInsertRowid } = db
    .prepare(`INSERT INTO message (at, expires_at, sender, addressed, text) VALUES (?, ?, ?, ?, ?)`)
    .run(at, expiresAt, JSON.stringify(from), to, text)
  const seq = Number(lastInsertRowid)
  for (const reader of reached) {
    db.prepare(`INSERT INTO delivery (message, reader, run) VALUES (?, ?, ?)`).run(seq, reader.session, reader.id)
    // What it says is between them; that it was said is not.
    recordEvent(db, reader, 'messaged', { message: seq, from: from.session ?? `${from.user}@${from.host}`, to }, at)
  }
  return { seq, reached: reached.map(({ session }) => session), full, gone }
}
type Reader = Pick<RunBase, 'id' | 'session' | 'epoch'>

/** Reading takes it out of the inbox in the same transaction: of two who read at once, one gets it. */
export function inbox(db: Database, reader: string, how: 'read' | 'peek', { count, bytes }: { count: number; bytes: number }, at: number): Message[] {
  const waiting = db
    .prepare(
      `SELECT m.*, d.run AS sent_to, r.ended_at AS ended_at, (r.ended_at IS NULL AND s.epoch = r.epoch) AS is_meant
       FROM delivery d JOIN message m ON m.seq = d.message LEFT JOIN run r ON r.id = d.run LEFT JOIN session s ON s.id = r.session
       WHERE d.reader = ? AND m.expires_at > ? ORDER BY m.seq LIMIT ?`,
    )
    .all(reader, at, count)
    .map(toMessage)
  const messages = upTo(bytes, waiting)
  if (how === 'peek') return messages
  for (const { seq } of messages) db.prepare(`DELETE FROM delivery WHERE reader = ? AND message = ?`).run(reader, seq)
  forgetExpired(db, at)
  return messages
}

/** As many from the beginning as have so many bytes together; one in any case. */
function upTo(bytes: number, messages: readonly Message[]): Message[] {
  let sum = 0
  return messages.filter(({ text }, index) => {
    sum += Buffer.byteLength(text)
    return index === 0 || sum <= bytes
  })
}

export const unread = (db: Database, reader: string, at: number): number =>
  Number(
    db.prepare(`SELECT count(*) AS n FROM delivery d JOIN message m ON m.seq = d.message WHERE d.reader = ? AND m.expires_at > ?`).get(reader, at)?.[
      'n'
    ],
  )

/** The run that a reader (?2) is in now. */
const OWNER = `SELECT r.id FROM session s JOIN run r ON r.session = s.id AND r.epoch = s.epoch WHERE s.id = ?2`

export function giveBack(db: Database, reader: string, messages: readonly Message[]): void {
  for (const { seq, at, expiresAt, from, to, text, sentTo } of messages) {
    db.prepare(`INSERT INTO message (seq, at, expires_at, sender, addressed, text) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`).run(
      seq,
      at,
      expiresAt,
      JSON.stringify(from),
      to,
      text,
    )
    db.prepare(`INSERT INTO delivery (message, reader, run) VALUES (?1, ?2, coalesce(?3, (${OWNER}))) ON CONFLICT DO NOTHING`).run(
      seq,
      reader,
      sentTo?.run ?? null,
    )
  }
}

/** What is expired, and what everybody has read. */
function forgetExpired(db: Database, at: number): void {
  db.prepare(`DELETE FROM delivery WHERE message IN (SELECT seq FROM message WHERE expires_at <= ?)`).run(at)
  db.prepare(`DELETE FROM message WHERE seq NOT IN (SELECT message FROM delivery)`).run()
}

/** Only its session's live owner speaks for it. */
export function say(db: Database, run: RunBase, kind: SayingKind, { text, at }: Saying): boolean {
  const owner = db
    .prepare(`SELECT 1 FROM run r JOIN session s ON s.id = r.session AND s.epoch = r.epoch WHERE r.id = ? AND r.epoch = ? AND r.state IN (${LIVE})`)
    .get(run.id, run.epoch)
  if (owner === undefined) return false
  db.prepare(`INSERT INTO said (run, kind, text, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET text = ?3, at = ?4`).run(
    run.id,
    kind,
    text,
    at,
  )
  recordEvent(db, run, 'said', { kind, text }, at)
  return true
}

export function said(db: Database, runs: readonly string[]): ReadonlyMap<string, Said> {
  const found = new Map<string, Said>()
  const rows = db.prepare(`SELECT * FROM said WHERE run IN (SELECT value FROM json_each(?))`).all(JSON.stringify(runs))
  for (const { run, kind, text, at } of rows) {
    const before = found.get(String(run)) ?? { plan: null, result: null }
    found.set(String(run), { ...before, [String(kind)]: { text: String(text), at: Number(at) } })
  }
  return found
}

const toMessage = (row: Row): Message => ({
  seq: Number(row['seq']),
  at: Number(row['at']),
  expiresAt: Number(row['expires_at']),
  from: JSON.parse(String(row['sender'])) as Message['from'],
  to: String(row['addressed']) as Message['to'],
  text: String(row['text']),
  // A message of an older Holdfast does not say for which run it was.
  ...(row['sent_to'] === null || row['is_meant'] === 1
    ? {}
    : { sentTo: { run: String(row['sent_to']), endedAt: row['ended_at'] === null ? null : Number(row['ended_at']) } }),
})
