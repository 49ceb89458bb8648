import { isOpen, policy, type RequestEvent } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { findRequest } from './find-request.ts'

/** All that happened to a request, and all that happens, until it is over or the caller has heard enough. */
export async function* watchRequest(
  { store: open, clock }: Pick<World, 'store' | 'clock'>,
  reference: string,
  signal?: AbortSignal,
): AsyncGenerator<RequestEvent> {
  const store = await open('reader')
  const { id } = await findRequest(store, reference)
  let told = 0
  while (signal?.aborted !== true) {
    // An end that is seen here has its last event in the story that is read after it.
    const request = await store.requests.get(id)
    for (const event of await store.requests.story(id, policy.requestEventsShown)) {
      if (event.seq <= told) continue
      told = event.seq
      yield event
    }
    if (request === null || !isOpen(request)) return
    await clock.sleep(policy.followMs)
  }
}
