import type { Harness, Run, Store } from '../model/index.ts'
import type { World } from './world.ts'

/** What is known of the agent that a run is about; null: nothing. */
export async function harnessOfRun(world: World, store: Store, { session }: Run): Promise<Harness | null> {
  const found = await store.find(session, 'exact')
  const name = found.kind === 'found' ? found.view.session.harness : null
  return world.harnesses().find((one) => one.name === name) ?? null
}
