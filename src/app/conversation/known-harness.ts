import type { Harness, Run, Session, Store } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** A session with what is known of its agent. */
export type Known = { readonly session: Session; readonly harness: Harness }

/** What is known of the agent that a run is about; null: nothing. */
export async function knownOf(world: Pick<World, 'harnesses'>, store: Store, { session }: Run): Promise<Known | null> {
  const found = await store.sessions.find(session, 'exact')
  if (found.kind !== 'found') return null
  const harness = world.harnesses().find(({ name }) => name === found.view.session.harness)
  return harness === undefined ? null : { session: found.view.session, harness }
}
