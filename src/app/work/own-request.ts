import { Problem, type Run, type Store, type WorkRequest } from '../../model/index.ts'
import { ancestorsOf } from '../caller/caller.ts'
import { type WhoAmI, whoMayAct } from '../caller/who-am-i.ts'
import type { World } from '../world/world.ts'
import { allRequests } from './find-request.ts'

type Around = { readonly request: WorkRequest; readonly run: Run }

/** The requests whose session the caller is in, or was started in, the nearest first; of one session the open one. */
export async function requestsAround(world: World, store: Store, self: WhoAmI): Promise<Around[]> {
  if (self.kind !== 'session') return []
  const all = await allRequests(store)
  const runs = await Promise.all((await ancestorsOf(world, self.run)).map((id) => store.runs.get(id)))
  return runs.flatMap((run) => {
    const request = run === null ? undefined : all.find(({ session }) => session === run.session)
    return run === null || request === undefined ? [] : [{ request, run }]
  })
}

export function nearestOrRefused(self: WhoAmI, [nearest]: readonly Around[], hint: string): WorkRequest {
  if (nearest !== undefined) return nearest.request
  throw self.kind === 'session'
    ? new Problem('request-none-around', `session ${self.session.id} works on no request`, { hint })
    : new Problem('caller-outside-session', `only inside its session a request needs no name, and you are in none: ${self.why}`, { hint })
}

/** The id of the request that the agent around the caller works on. */
export async function ownRequest(world: World): Promise<string> {
  const self = await whoMayAct(world)
  return nearestOrRefused(self, await requestsAround(world, await world.store('reader'), self), 'name a request').id
}
