import { type ExplainFacts, explain, holdBack, judge, type RequestRun, turns } from '../../decide/index.ts'
import { isLive, isOpen, policy, type Store, type WorkRequest } from '../../model/index.ts'
import type { ExplainedView } from '../../show/index.ts'
import { seeOne } from '../see/look-at-sessions.ts'
import type { World } from '../world/world.ts'
import { workOfRepository } from './pass/workflow.ts'
import { seeRequest } from './see-work.ts'
import { workerPresence } from './worker-presence.ts'

/** Why a request stands where it stands, from what is true now. Nothing is changed. */
export async function explainRequest(world: World, reference: string): Promise<ExplainedView> {
  const { request, followedBy, feedback } = await seeRequest(world, reference)
  const store = await world.store('reader')
  const now = world.clock.now()
  const isQueued = request.state === 'queued'
  const facts: ExplainFacts = {
    now,
    request,
    followedBy,
    feedback,
    after: await Promise.all(request.order.after.map(async (id) => ({ id, state: (await store.requests.get(id))?.state ?? null }))),
    turn: isQueued ? (turns(await store.requests.list('open', policy.requestsShown), world.work().limits, now).get(request.id) ?? null) : null,
    worker: isOpen(request) ? await workerPresence(world) : { kind: 'none', why: 'nothing is to be done' },
    run: await runOf(world, store, request),
    claimant: request.claimant === null ? 'gone' : judge(world.processes, request.claimant.place, request.claimant.process).kind,
    repoBlock: isQueued ? await blockOf(world, store, request, now) : null,
  }
  return { id: request.id, title: request.order.title, state: request.state, cause: request.cause, reason: request.reason, ...explain(facts) }
}

/** Nothing of a repository begins whose `WORKFLOW.md` nobody has allowed. Failures and usage limits keep requests back for a while. */
async function blockOf(world: World, store: Store, request: WorkRequest, now: number): Promise<ExplainFacts['repoBlock']> {
  const work = await workOfRepository(world, request.order.repo)
  if (work.kind === 'blocked') return { why: work.why, hint: work.hint }
  const [open, ended] = await Promise.all([store.requests.list('open', policy.requestsShown), store.requests.list('ended', policy.failuresLooked)])
  const held = holdBack({ request, open, ended, atOnce: work.workflow.limits.atOnce, now })
  if (held === null) return null
  const until = held.until === null || held.until <= now ? '' : `; it is tried again at ${new Date(held.until).toISOString()}`
  return { why: `${held.why}${until}`, hint: 'look at the others: holdfast work ls' }
}

/** Its newest run, as the operating system shows it now. */
async function runOf(world: World, store: Store, { session, seenEpoch, state }: WorkRequest): Promise<RequestRun> {
  if (state !== 'claimed' && state !== 'running') return { kind: 'none' }
  const found = await store.sessions.find(session, 'exact')
  const run = found.kind === 'found' ? found.view.run : null
  if (run === null || run.epoch <= seenEpoch) return { kind: 'none' }
  if (!isLive(run)) return { kind: 'ended', run }
  const seen = await seeOne(world, session)
  if (!isLive(seen.run)) return { kind: 'ended', run: seen.run }
  return { kind: 'live', id: seen.run.id, liveness: seen.liveness === 'alive' ? 'alive' : 'unknown', why: seen.note }
}
