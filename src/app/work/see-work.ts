import { byColumn, columnOf } from '../../decide/index.ts'
import { isOpen, policy, type Store, type WorkRequest } from '../../model/index.ts'
import type { RequestStory, RequestView } from '../../show/index.ts'
import type { World } from '../world/world.ts'
import { allRequests, findRequest } from './find-request.ts'

type Seeing = Pick<World, 'store' | 'clock'>

/** The board. `shown`: without those that ended long ago; a blocked one stays until somebody has dealt with it. */
export async function seeWork({ store: open, clock }: Seeing, which: 'shown' | 'all'): Promise<{ views: RequestView[]; left: number }> {
  const store = await open('reader')
  const all = await allRequests(store)
  const following = followers(all)
  const oldest = clock.now() - policy.workShownMs
  const isShown = (view: RequestView): boolean =>
    which === 'all' || isOpen(view.request) || view.column === 'needs-you' || (view.request.endedAt ?? 0) >= oldest
  const views = await Promise.all(all.map((request) => viewOf(store, request, following.get(request.id) ?? null)))
  const shown = byColumn(views.filter(isShown))
  return { views: shown, left: views.length - shown.length }
}

/** One request, with all that happened to it. */
export async function seeRequest({ store: open }: Pick<World, 'store'>, reference: string): Promise<RequestStory> {
  const store = await open('reader')
  const request = await findRequest(store, reference)
  const following = followers(await allRequests(store))
  return {
    ...(await viewOf(store, request, following.get(request.id) ?? null)),
    story: await store.requests.story(request.id, policy.requestEventsShown),
  }
}

/** The newest request that repeats another one or goes on with it, by that one's id. */
function followers(all: readonly WorkRequest[]): ReadonlyMap<string, string> {
  const oldestFirst = all.toSorted((a, b) => a.createdAt - b.createdAt)
  return new Map(oldestFirst.flatMap(({ id, order }) => (order.from === null ? [] : [[order.from.request, id] as const])))
}

export async function viewOf(store: Pick<Store, 'feedback'>, request: WorkRequest, followedBy: string | null): Promise<RequestView> {
  return { request, column: columnOf(request, followedBy !== null), followedBy, feedback: await store.feedback.list(request.id) }
}
