import { isOpen, type NewRequest, Problem, policy, type Store, type WorkRequest } from '../../model/index.ts'
import type { RequestView } from '../../show/index.ts'
import { whoMayAct } from '../caller/who-am-i.ts'
import { newRequestId } from '../world/ids.ts'
import type { World } from '../world/world.ts'
import { findRequest } from './find-request.ts'
import { viewOf } from './see-work.ts'

/** The same work once more, as a new request on a branch of its own: the one that is over stays as it is. */
export async function rerunRequest(world: World, reference: string): Promise<RequestView> {
  await whoMayAct(world)
  const store = await world.store('writer')
  const old = await findRequest(store, reference)
  if (isOpen(old)) throw stillOpen(old)
  const id = newRequestId()
  return follow(world, store, old, { id, how: 'rerun', session: `work-${id}`, branch: `holdfast/${id}` })
}

/**
 * One that is over goes on as a new request, in its conversation and on its branch. One that only waits until it is tried again is tried at once.
 */
export async function retryRequest(world: World, reference: string): Promise<RequestView> {
  await whoMayAct(world)
  const store = await world.store('writer')
  const old = await findRequest(store, reference)
  if (isOpen(old)) return hasten(world, store, old)
  const other = (await store.requests.list('open', policy.requestsShown)).find(({ session }) => session === old.session)
  if (other !== undefined) throw stillOpen(other)
  return follow(world, store, old, { id: newRequestId(), how: 'retry', session: old.session, branch: old.branch ?? `holdfast/${old.id}` })
}

type Following = Pick<NewRequest, 'id' | 'session' | 'branch'> & { readonly how: 'rerun' | 'retry' }

/** Its source heard that it is over, and does not hear of those that follow it. Only what is open is still waited for. */
async function follow(world: World, store: Store, old: WorkRequest, { id, how, session, branch }: Following): Promise<RequestView> {
  const before = await Promise.all(old.order.after.map((one) => store.requests.get(one)))
  const after = before.flatMap((one) => (one !== null && isOpen(one) ? [one.id] : []))
  const by = `${world.user()}@${world.host}`
  await store.requests.add({
    id,
    order: { ...old.order, after, source: null, from: { request: old.id, how }, by },
    session,
    branch,
    ...(after.length === 0 ? { waitsFor: null, summary: null } : { waitsFor: 'dependency', summary: `it comes after ${after.join(', ')}` }),
    at: world.clock.now(),
  })
  return viewOf(store, await findRequest(store, id), null)
}

async function hasten({ clock }: World, store: Store, request: WorkRequest): Promise<RequestView> {
  const { id, token, state, cause, summary, dueAt } = request
  const holds = { id, token }
  const now = clock.now()
  const isDone =
    state === 'waiting' && cause === 'limit'
      ? await store.requests.recordDue(holds, { why: 'a person wants it tried at once', rework: false }, now)
      : state === 'waiting' && cause === 'publish'
        ? await store.requests.recordPaused(holds, { cause, summary: summary ?? 'it is published', dueAt: now }, now)
        : state !== 'waiting' && dueAt !== null && (await store.requests.recordTrouble(holds, null, null, now))
  if (!isDone) throw stillOpen(request)
  return viewOf(store, await findRequest(store, id), null)
}

const stillOpen = ({ id, state, cause }: WorkRequest): Problem =>
  new Problem('request-open', `${id} is ${state}${cause === null ? '' : ` (${cause})`}, so nothing is to be repeated`, {
    hint: `holdfast work explain ${id} tells what comes next; holdfast feedback add ${id} TEXT says what to change`,
  })
