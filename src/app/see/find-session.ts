import type { Found, SessionRecord, Store } from '../../model/index.ts'
import { ID_GRAMMAR, isSessionId, nearest, Problem } from '../../model/index.ts'

/** So much of an id is enough to end something: less is too easily typed by mistake. */
const ENOUGH = 4

/** By any id or name it ever had, or a beginning that only one has. `near`: something will be ended, so that must not be too short. */
export async function findSession(store: Store, reference: string, wanted: 'exact' | 'near' | 'prefix' = 'prefix'): Promise<SessionRecord> {
  const how = wanted === 'prefix' || (wanted === 'near' && reference.length >= ENOUGH) ? 'prefix' : 'exact'
  if (!isSessionId(reference))
    throw new Problem('session-id-invalid', `${JSON.stringify(reference)} cannot name a session`, { hint: `use ${ID_GRAMMAR}` })
  const found: Found = await store.sessions.find(reference, how)
  if (found.kind === 'found') return found.view
  const near: Found = how === 'exact' ? await store.sessions.find(reference, 'prefix') : found
  if (near.kind === 'ambiguous') {
    throw new Problem('session-ambiguous', `${reference} could be any of ${near.sessions.map((session) => session.id).join(', ')}`, {
      hint: 'give more of its id',
    })
  }
  if (near.kind === 'found')
    throw new Problem('session-unknown', `no such session: ${reference}`, {
      hint: `did you mean ${near.view.session.id}? Say at least ${ENOUGH} characters of it; nothing was changed`,
    })
  const like = await nearestId(store, reference)
  const hint = `${like === null ? '' : `did you mean ${like}? `}holdfast ls --all lists them`
  throw new Problem('session-unknown', `no such session: ${reference}`, { hint })
}

/** The id of a session that was probably meant. Ids of conversations are not typed, but copied. */
async function nearestId(store: Store, reference: string): Promise<string | null> {
  const { views } = await store.sessions.snapshot('all', NAMES_COMPARED)
  const names = views.flatMap(({ session }) => [session.id, ...(session.name === null ? [] : [session.name])])
  return nearest(
    reference,
    names.filter((name) => name.length <= TYPED),
  )
}
/** So many sessions, the newest first, are compared; and no names that are longer than people type. */
const NAMES_COMPARED = 1_000
const TYPED = 32
