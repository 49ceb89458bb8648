import type { RebindAnswer, RebindRequest, RunBase, SessionRecord } from '../../model/index.ts'
import type { Database } from '../driver.ts'
import { ownerOf, takeNative, wasTold } from './conversation.ts'
import { recordEvent } from './events.ts'
import { find } from './reads.ts'
import { liveOwner, moveTo } from './rename-session.ts'

/** The session's true id is another one. Nothing is left under the old one but an alias. */
export function rebind(db: Database, { session, epoch, to, native, how, at }: RebindRequest): RebindAnswer {
  const row = db.prepare(`SELECT epoch FROM session WHERE id = ?`).get(session)
  if (row === undefined || row['epoch'] !== epoch) return { kind: 'lost' }
  const owner = liveOwner(db, session, to) ?? (native === null ? null : (ownerOf(db, native, session)?.session ?? null))
  if (owner !== null) return taken(db, { session, owner, to, how }, at)
  const { aside, sessions } = session === to ? { aside: null, sessions: [] } : moveTo(db, session, to)
  if (native !== null) takeNative(db, to, native, at)
  const run = session === to ? null : newestRun(db, to)
  if (run !== null) recordEvent(db, run, 'rebound', { from: session, to, how, ...(aside === null ? {} : { aside }) }, at)
  return { kind: 'bound', changed: session !== to, aside, moved: sessions }
}

/** Both learn of it, once. */
function taken(db: Database, { session, owner, to, how }: { session: string; owner: string; to: string; how: string }, at: number): RebindAnswer {
  const [one, other] = [newestRun(db, session), newestRun(db, owner)]
  if (one === null || !wasTold(db, one, { id: to })) {
    if (one !== null) recordEvent(db, one, 'conflict', { id: to, with: owner, how }, at)
    if (other !== null) recordEvent(db, other, 'conflict', { id: to, with: session, how }, at)
  }
  return { kind: 'taken', by: (find(db, owner, 'exact') as { view: SessionRecord }).view }
}

type Told = Pick<RunBase, 'id' | 'session' | 'epoch'>

function newestRun(db: Database, session: string): Told | null {
  const run = db.prepare(`SELECT r.id, r.epoch FROM run r JOIN session s ON s.id = r.session AND s.epoch = r.epoch WHERE s.id = ?`).get(session)
  return run === undefined ? null : { id: String(run['id']), session, epoch: Number(run['epoch']) }
}
