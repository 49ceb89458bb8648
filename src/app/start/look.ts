import { type Looked, lookAt, lookAtAll } from '../../act/index.ts'
import { areWorktrees, type Choice, type ClaimDecision, decideClaim, type Holding, toJudge, verdict } from '../../decide/index.ts'
import {
  type Agent,
  type Found,
  type LiveRun,
  type Lock,
  liveRunsOf,
  Problem,
  type Run,
  type Session,
  type SessionRecord,
} from '../../model/index.ts'
import { isFencedFrom } from '../conversation/bind.ts'
import { holdingsOf, holdingsOn, touching, whoseLocks } from '../lock/judge-locks.ts'
import { type Forgotten, stillForgotten } from '../lock/trees-without-record.ts'
import { unmanagedBeside } from './beside-unmanaged.ts'
import { once } from './once.ts'
import type { Plan } from './plan.ts'

/** Who holds the directory, the newest lock by then, whether a run around us holds it already, and who is in other worktrees of its repository. */
export type Beside = {
  readonly holdings: readonly Holding[]
  readonly newest: number
  readonly delegated: boolean
  readonly neighbours: readonly Lock[]
  readonly forgotten: readonly Holding[]
}

/** One look at the session, its owner and its directory, with the decision that follows from it. */
export type Look = {
  readonly plan: Plan
  readonly decision: ClaimDecision
  readonly beside: Beside
  /** The session as it is on record, with its last run. */
  readonly known: Session | null
  readonly last: Run | null
  /** Agents that Holdfast did not start and that work in the directory; gathered at first use. */
  readonly unmanaged: () => Promise<readonly Agent[]>
}

/** A view that others overtook while it was gathered says nothing: it is gathered again before anything is said or ended. */
export async function lookAndDecide(before: Plan): Promise<Look> {
  for (let looks = 0; looks < before.world.policy.claimSteps; looks++) {
    const look = await lookOnce(before)
    if (!(await isOvertaken(look))) return look
  }
  throw contended(before.session)
}

export const contended = (session: string): Problem =>
  new Problem('session-contended', `could not claim session ${session}: too many competing starts`, { hint: 'try again' })

/** The session was read before the locks: a tree without a live run may be that of a run which began, or ended, in between. */
async function isOvertaken({ plan: { store }, beside: { forgotten } }: Look): Promise<boolean> {
  const alive = forgotten.flatMap(({ lock, verdict }) => (verdict.kind === 'free' ? [] : [lock as Forgotten]))
  return (await stillForgotten(store, alive)).length < alive.length
}

async function lookOnce(before: Plan): Promise<Look> {
  const view = await viewOf(before)
  // The session may have got another id meanwhile.
  const plan = { ...before, session: view?.session.id ?? before.session }
  const { world, request } = plan
  const current = toJudge(view?.run ?? null)
  const beside = await whoIsThere(plan, current)
  const judged = current && { run: current, verdict: verdict(current, await lookAt(current, world)) }
  const choice: Choice = { onLive: request.onLive, force: request.force ?? false, share: request.share ?? false }
  const { holdings, forgotten } = beside
  const rivals = request.onLive === 'takeover' ? await rivalsOf(plan) : []
  const seen = { epoch: view?.session.epoch ?? 0, firstEpoch: plan.firstEpoch, current: judged, holdings, forgotten, rivals }
  const unmanaged = once(() => unmanagedBeside(plan, beside.delegated))
  return { plan, decision: decideClaim(seen, choice), beside, known: view?.session ?? null, last: view?.run ?? null, unmanaged }
}

/** Runs of other sessions that were fenced off from the conversation of this start, and are alive. */
export async function rivalsOf({ world, store, session, spoken: { harness, native } }: Plan): Promise<LiveRun[]> {
  if (harness === null || native === null) return []
  const { views } = await store.sessions.snapshot('live', world.policy.sessionsShown)
  const fenced = liveRunsOf(views).filter((run) => run.session !== session && isFencedFrom(world, run, { harness: harness.name, id: native }))
  const looked = await lookAtAll(fenced, world)
  return fenced.filter((run) => verdict(run, looked.get(run.id) as Looked).kind === 'alive')
}

async function viewOf({ store, session }: Plan): Promise<SessionRecord | null> {
  const found: Found = await store.sessions.find(session, 'exact')
  return found.kind === 'found' ? found.view : null
}

/** Locks of a run around us, of a process that we were started from, and of our own session are not in our way. */
async function whoIsThere({ world, store, session, ancestors, directory }: Plan, current: LiveRun | null): Promise<Beside> {
  const { ours, theirs, newest } = await whoseLocks(world, store, { ancestors, session, own: current?.id ?? null })
  const around = ours.filter((lock) => lock.holder.kind === 'run' && lock.run !== current?.id)
  const isForgotten = (lock: Lock): boolean => lock.holder.kind === 'run' && lock.session === session
  return {
    newest,
    holdings: await holdingsOn(
      world,
      store,
      directory,
      theirs.filter((lock) => !isForgotten(lock)),
    ),
    forgotten: await holdingsOf(world, theirs.filter(isForgotten)),
    neighbours: theirs.filter((lock) => areWorktrees(lock.directory, directory)),
    delegated: touching(world, directory, around).length > 0,
  }
}

/** The effect that a decision has on processes or on the store's rows of this session, and that a refusal must come before. */
export type Effect = 'retire' | 'settle' | 'claim'

/** `settle`: what an earlier run of the session has left is ended. Null: nothing is ended or begun. */
export function effectOf({ plan, decision }: Look): Effect | null {
  switch (decision.kind) {
    case 'claim':
      return 'claim'
    case 'retire':
    case 'end-forgotten':
      return 'retire'
    case 'end-leftovers':
      return 'settle'
    case 'clear':
      return decision.ends.some(({ run }) => run.session === plan.session) ? 'settle' : null
    case 'wait':
      return decision.settling && decision.for.what === 'session' ? 'settle' : null
    case 'attach':
    case 'refuse':
      return null
  }
}
