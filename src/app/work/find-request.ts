import { Problem, policy, type Store, type WorkRequest } from '../../model/index.ts'

/** So much of an id is enough: less is too easily typed by mistake. */
const ENOUGH = 4

/** By its id, or by a beginning that only one request has. */
export async function findRequest(store: Pick<Store, 'requests'>, reference: string): Promise<WorkRequest> {
  const found = await store.requests.get(reference)
  if (found !== null) return found
  const begun = reference.length < ENOUGH ? [] : (await allRequests(store)).filter(({ id }) => id.startsWith(reference))
  const [only, ...more] = begun
  if (only === undefined)
    throw new Problem('request-unknown', `no such request: ${JSON.stringify(reference)}`, { hint: 'holdfast work ls --all lists them' })
  if (more.length > 0)
    throw new Problem('request-ambiguous', `${reference} could be any of ${begun.map(({ id }) => id).join(', ')}`, { hint: 'give more of its id' })
  return only
}

/** The open ones in the order in which they are taken, and then those that are over. */
export async function allRequests({ requests }: Pick<Store, 'requests'>): Promise<WorkRequest[]> {
  const open = await requests.list('open', policy.requestsShown)
  const ids = new Set(open.map(({ id }) => id))
  return [...open, ...(await requests.list('all', policy.requestsShown)).filter(({ id }) => !ids.has(id))]
}
