import { Problem } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { findSession } from './find-session.ts'

/** `seq`: from where to ask next. `any`: something happened; `of`: to which of the sessions that were asked about, as they were called. */
export type Happened = { readonly seq: number; readonly any: boolean; readonly of: readonly string[] }

/** What happened since. Null: from now on. Cheap where nothing did. */
export async function happenedSince(world: Pick<World, 'policy' | 'store'>, after: number | null, references: readonly string[]): Promise<Happened> {
  const store = await world.store('reader')
  const seq = (await store.events.list({ session: null, after: 0, limit: 1 })).at(-1)?.seq ?? 0
  if (after === null || seq === after) return { seq, any: false, of: [] }
  // A store that was lost and made again counts anew: anything may have happened.
  if (seq < after) return { seq, any: true, of: references }
  const events = await store.events.list({ session: null, after, limit: world.policy.eventsShown })
  const touched = new Set(events.map(({ session }) => session))
  const of: string[] = []
  for (const reference of references) {
    const id = await idOf(world, reference)
    if (id !== null && touched.has(id)) of.push(reference)
  }
  return { seq: events.at(-1)?.seq ?? seq, any: true, of }
}

/** Its present id: it may have got another one since. */
async function idOf(world: Pick<World, 'store'>, reference: string): Promise<string | null> {
  try {
    return (await findSession(await world.store('reader'), reference)).session.id
  } catch (error) {
    if (error instanceof Problem && error.kind !== 'unavailable') return null
    throw error
  }
}
