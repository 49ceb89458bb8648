import { Problem, type SessionRecord } from '../../model/index.ts'
import { learnAll } from '../conversation/learn.ts'
import type { World } from '../world/world.ts'
import { findSession } from './find-session.ts'

/**
 * Finds a session by any id, as it is true now. A reference that is no id or name of ours may be a conversation that moved since the last look.
 */
export async function findSeen(world: World, reference: string, wanted: Parameters<typeof findSession>[2] = 'prefix'): Promise<SessionRecord> {
  const store = await world.store('reader')
  const known = await found(() => findSession(store, reference, wanted))
  if (!(known instanceof Problem) && isOurs(known, reference)) return known
  // What is no id at all names no conversation.
  if (known instanceof Problem && known.id === 'session-id-invalid') throw known
  await learnAll(world, store)
  return findSession(store, reference, wanted)
}

/** A session that is called by its conversation's id is called otherwise once it has gone on. */
const isOurs = ({ session }: SessionRecord, reference: string): boolean =>
  (reference === session.id && session.id !== session.native) || reference === session.name

async function found(find: () => Promise<SessionRecord>): Promise<SessionRecord | Problem> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof Problem && error.kind === 'notFound') return error
    throw error
  }
}
