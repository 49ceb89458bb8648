import { judge } from '../../decide/index.ts'
import { isLive, isOpen, type Store, type WorkRequest } from '../../model/index.ts'
import type { CancelledView } from '../../show/index.ts'
import { whoMayAct } from '../caller/who-am-i.ts'
import { stop } from '../end/stop.ts'
import type { World } from '../world/world.ts'
import { findRequest } from './find-request.ts'
import { overProblem, refuseOver, tidyWorktree } from './request-ends.ts'
import { viewOf } from './see-work.ts'

/**
 * Ends a request, and first its agent with all that it started. The wish is recorded before anything is stopped: no start overtakes it, and a worker
 * carries it out if this command dies.
 */
export async function cancelRequest(world: World, reference: string, why?: string): Promise<CancelledView> {
  const self = await whoMayAct(world)
  const by = self.kind === 'session' ? self.session.id : `${world.user()}@${world.host}`
  const store = await world.store('writer')
  const first = await findRequest(store, reference)
  refuseOver(first)
  const at = world.clock.now()
  const summary = `cancelled by ${by}${why === undefined || why.trim() === '' ? '' : `: ${why.trim()}`}`
  await store.requests.recordClosing(first.id, { reason: 'cancelled', summary, by, at }, at)
  const stopped = await stopAgent(world, store, first.id)
  if (stopped.kind === 'cancelled') await recordCancelled(world, store, first.id)
  const request = await findRequest(store, first.id)
  if (!isOpen(request) && request.state !== 'cancelled') throw overProblem(request)
  return { ...(await viewOf(store, request, null)), kind: isOpen(request) ? stopped.kind : 'cancelled', why: stopped.why }
}

type Stopping = Pick<CancelledView, 'kind' | 'why'>
const NOTHING_RUNS: Stopping = { kind: 'cancelled', why: null }

/** A worker that is just starting its agent is waited for: what it starts is ended, too. */
async function stopAgent(world: World, store: Store, id: string): Promise<Stopping> {
  const until = world.clock.elapsed() + world.policy.settleMs
  for (;;) {
    const request = await findRequest(store, id)
    if (request.state !== 'claimed' && request.state !== 'running') return NOTHING_RUNS
    // Judged before its run is looked for: the last act of a worker that is gone is seen.
    const isLeft = request.state === 'running' || claimantOf(world, request) === 'gone'
    if (await hasLiveRun(store, request)) return endOf(world, request)
    if (isLeft) return NOTHING_RUNS
    if (world.clock.elapsed() >= until) return { kind: 'ending', why: 'a worker is starting it, and ends it as soon as it looks again' }
    await world.clock.sleep(world.policy.pollMaxMs)
  }
}

async function hasLiveRun(store: Store, { session, seenEpoch }: WorkRequest): Promise<boolean> {
  const found = await store.sessions.find(session, 'exact')
  const run = found.kind === 'found' ? found.view.run : null
  return run !== null && isLive(run) && run.epoch > seenEpoch
}

const claimantOf = ({ processes }: Pick<World, 'processes'>, { claimant }: WorkRequest): 'alive' | 'gone' | 'unknown' =>
  claimant === null ? 'gone' : judge(processes, claimant.place, claimant.process).kind

async function endOf(world: World, { session, closing }: WorkRequest): Promise<Stopping> {
  const [stopped] = await stop(world, { references: [session], reason: closing?.summary ?? 'its request is cancelled' })
  switch (stopped?.end.kind) {
    case 'survivors':
      return { kind: 'survivors', why: `${stopped.end.survivors.length} processes of session ${session} could not be ended` }
    case 'unknown':
      return { kind: 'unproven', why: `session ${session} cannot be proven gone: ${stopped.end.why}` }
    case 'handed-over':
      return { kind: 'ending', why: `session ${session} is ended from outside, since this command is in it` }
    default:
      return NOTHING_RUNS
  }
}

/** Whoever comes first ends it; the words of the wish stand. */
async function recordCancelled(world: World, store: Store, id: string): Promise<void> {
  const request = await findRequest(store, id)
  const { closing, token } = request
  if (closing === null || !isOpen(request)) return
  const kept = await tidyWorktree(world, store, request)
  const summary = kept === null ? closing.summary : `${closing.summary}; ${kept}`
  await store.requests.recordEnded({ id, token }, { state: 'cancelled', reason: closing.reason, summary, by: closing.by }, world.clock.now())
}
