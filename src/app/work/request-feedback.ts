import { type Feedback, isOpen, Problem, policy } from '../../model/index.ts'
import { whoMayAct } from '../caller/who-am-i.ts'
import { newFeedbackId } from '../world/ids.ts'
import type { World } from '../world/world.ts'
import { allRequests, findRequest } from './find-request.ts'
import { overProblem } from './request-ends.ts'

/** Tells the agent of a request what to change. Whether the request is over is asked in the transaction that keeps it. */
export async function addFeedback(world: World, reference: string, said: string): Promise<Feedback> {
  const text = said.trim()
  if (text === '') throw new Problem('text-empty', 'there is nothing to say: the text is empty', { hint: 'holdfast feedback add ID "rename it"' })
  if (text.length > policy.feedbackChars)
    throw new Problem('text-too-long', `feedback has ${policy.feedbackChars} characters at most, and this has ${text.length}`)
  const self = await whoMayAct(world)
  const store = await world.store('writer')
  const request = await findRequest(store, reference)
  const by = self.kind === 'session' ? self.session.id : `${world.user()}@${world.host}`
  const answer = await store.feedback.add({ id: newFeedbackId(), request: request.id, text, by, key: null, at: world.clock.now() })
  const kept = answer.kind === 'added' ? await store.feedback.get(answer.id) : null
  if (kept === null) throw overProblem(await findRequest(store, request.id))
  return kept
}

/** Of one request, or of all that are open, in the order in which it was said. */
export async function seeFeedback({ store: open }: Pick<World, 'store'>, reference: string | null): Promise<Feedback[]> {
  const store = await open('reader')
  const requests = reference === null ? (await allRequests(store)).filter(isOpen) : [await findRequest(store, reference)]
  const all = await Promise.all(requests.map(({ id }) => store.feedback.list(id)))
  return all.flat().toSorted((a, b) => a.seq - b.seq)
}

/** Sends once more what may not have arrived. */
export async function retryFeedback(world: World, id: string): Promise<Feedback> {
  await whoMayAct(world)
  const store = await world.store('writer')
  const found = await store.feedback.get(id)
  if (found === null) throw new Problem('feedback-unknown', `no such feedback: ${JSON.stringify(id)}`, { hint: 'holdfast feedback ls lists them' })
  if (await store.feedback.record(id, 'retried', null, world.clock.now())) return (await store.feedback.get(id)) ?? found
  const request = await store.requests.get(found.request)
  if (request !== null && !isOpen(request)) throw overProblem(request)
  throw new Problem('feedback-not-undelivered', `${id} is ${found.state}, so it is not sent once more`, {
    hint: `holdfast feedback add ${found.request} TEXT says it anew`,
  })
}
