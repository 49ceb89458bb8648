import { Problem, policy, type Store, type WorkRequest } from '../../model/index.ts'
import type { FinishedView } from '../../show/index.ts'
import { whoMayAct } from '../caller/who-am-i.ts'
import type { World } from '../world/world.ts'
import { findRequest } from './find-request.ts'
import { nearestOrRefused, requestsAround } from './own-request.ts'
import { overProblem, refuseOver, tidyWorktree } from './request-ends.ts'
import { viewOf } from './see-work.ts'

/** `request`: left out inside its session. `token`: that of the claim that the caller knows of; an older one changes nothing. */
export type FinishRequest = { readonly request?: string | undefined; readonly summary?: string | undefined; readonly token?: number | undefined }

/**
 * The agent of a request reports its result: the caller is proven to be in that session. A person, or anybody else who names it, accepts a result that
 * waits, or reports one for the agent.
 */
export async function finishRequest(world: World, { request: reference, summary, token }: FinishRequest): Promise<FinishedView> {
  const text = resultText(summary)
  const self = await whoMayAct(world)
  const store = await world.store('writer')
  const mine = await requestsAround(world, store, self)
  const found =
    reference === undefined ? nearestOrRefused(self, mine, 'name it: holdfast work finish ID --summary TEXT') : await findRequest(store, reference)
  const inside = mine.find(({ request }) => request.id === found.id)
  refuseOver(found)
  if (inside !== undefined && inside.run.epoch <= found.seenEpoch) throw late(found, `run ${inside.run.id} worked on an earlier claim of it`)
  if (token !== undefined && token !== found.token) throw late(found, `token ${token} is of an earlier claim, and it is ${found.token} by now`)
  const by = self.kind === 'session' ? self.session.id : `${world.user()}@${world.host}`
  if (inside === undefined && found.state === 'waiting') return accept(world, store, found, text, by)
  if (found.state !== 'claimed' && found.state !== 'running')
    throw new Problem('request-not-running', `${found.id} is ${found.state}, and no agent works on it, so there is no result to report`, {
      hint: `holdfast work explain ${found.id}; holdfast work cancel ${found.id} takes it out of the queue`,
    })
  if (text === null)
    throw new Problem('option-missing', 'a result needs a sentence', { hint: 'holdfast work finish --summary "the login works again"' })
  const at = world.clock.now()
  const result = { kind: 'reported', text, by, branch: found.branch, commits: 0, head: null, published: null, at } as const
  if (!(await store.requests.recordResult({ id: found.id, token: found.token }, result, at))) throw await lostTo(store, found)
  return { ...(await viewOf(store, await findRequest(store, found.id), null)), kind: 'reported' }
}

function resultText(summary: string | undefined): string | null {
  const text = summary?.trim() ?? ''
  if (text.length > policy.feedbackChars)
    throw new Problem('text-too-long', `a summary has ${policy.feedbackChars} characters at most, and this one has ${text.length}`)
  return text === '' ? null : text
}

const late = ({ id }: WorkRequest, why: string): Problem =>
  new Problem('request-claim-late', `nothing was changed: ${why}`, { hint: `holdfast work show ${id} tells how it stands` })

async function lostTo(store: Store, { id, token }: WorkRequest): Promise<Problem> {
  const now = await findRequest(store, id)
  return now.endedAt === null ? late(now, `its claim ${token} was followed by ${now.token}`) : overProblem(now)
}

/** Whatever it waited for, this is its result. */
async function accept(world: World, store: Store, request: WorkRequest, text: string | null, by: string): Promise<FinishedView> {
  if (request.cause === 'dependency')
    throw new Problem('request-not-running', `${request.id} waits for others, and no agent has worked on it, so there is no result to accept`, {
      hint: `holdfast work cancel ${request.id} takes it out of the queue`,
    })
  const kept = await tidyWorktree(world, store, request)
  const said = text ?? request.result?.text ?? request.summary ?? 'its result stands'
  const summary = `accepted by ${by}: ${said}${kept === null ? '' : `; ${kept}`}`
  const { id, token } = request
  if (!(await store.requests.recordEnded({ id, token }, { state: 'done', reason: 'accepted', summary, by }, world.clock.now())))
    throw await lostTo(store, request)
  return { ...(await viewOf(store, await findRequest(store, id), null)), kind: 'accepted' }
}
