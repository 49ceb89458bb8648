import type { RebindAnswer, RebindRequest, SessionView } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { recordEvent } from './events.ts'
import { liveOwner, moveTo } from './move.ts'
import { ownerOf, takeNative } from './natives.ts'
import { find } from './reads.ts'

/** The session's true id is another one. Nothing is left under the old one but an alias. */
export function rebind(db: Database, { session, epoch, to, native, how, at }: RebindRequest): RebindAnswer {
  const row = db.prepare(`SELECT epoch FROM session WHERE id = ?`).get(session)
  if (row === undefined || row['epoch'] !== epoch) return { kind: 'lost' }
  const owner = liveOwner(db, session, to) ?? (native === null ? null : ownerOf(db, native, session))
  if (owner !== null) {
    for (const [one, other] of [
      [session, owner.session],
      [owner.session, session],
    ] as const)
      recordOn(db, one, 'conflict', { id: to, with: other, how }, at)
    const found = find(db, owner.session, 'exact')
    return { kind: 'taken', by: (found as { view: SessionView }).view }
  }
  const aside = session === to ? null : moveTo(db, session, to)
  if (native !== null) takeNative(db, to, native, at)
  if (session !== to) recordOn(db, to, 'rebound', { from: session, to, how, ...(aside === null ? {} : { aside }) }, at)
  return { kind: 'bound', changed: session !== to, aside }
}

function recordOn(db: Database, session: string, kind: 'rebound' | 'conflict', detail: Record<string, unknown>, at: number): void {
  const run = db.prepare(`SELECT r.id, r.epoch FROM run r JOIN session s ON s.id = r.session AND s.epoch = r.epoch WHERE s.id = ?`).get(session)
  if (run !== undefined) recordEvent(db, { id: String(run['id']), session, epoch: Number(run['epoch']) }, kind, detail, at)
}
