import { dismissKeeper, lookAt, type RunEnd } from '../../act/index.ts'
import { areWorktrees, type Choice, type ClaimDecision, decideClaim, type OnLive, toJudge, verdict } from '../../decide/index.ts'
import type { Found, LiveRun, Lock, ProcessId, RunBase, SessionView } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { holdingsOf, holdingsOn, judgeLocks, touching, whoseLocks } from '../lock/judge-locks.ts'
import { reapInPassing } from '../maintenance/tidy-at-start.ts'
import { removeUnused } from '../worktree/worktree.ts'
import type { World } from '../world/world.ts'
import { takeIn } from './adopt-process-tree.ts'
import { besideUnmanaged } from './beside-unmanaged.ts'
import { type Beside, claim } from './claim.ts'
import { clearTheWay, refuseMissingProgram } from './clear-the-way.ts'
import { refuseNewest, refuseOwned } from './conversation-owners.ts'
import { equip } from './create-run-files.ts'
import { abandon, handOver, launchDetached, launchOf, untilHarness } from './launch.ts'
import type { Plan } from './plan.ts'
import { prepare } from './prepare.ts'
import { recordRefusal } from './record-refusal.ts'
import type { StartRequest } from './request.ts'
import type { Begun, Started } from './started.ts'

/** What to do about a live owner, asked where a start is about to be refused because of it; null: leave it. */
type Ask = (refusal: Problem) => OnLive | null

/** Start a session's next run: look, decide, clear the way as far as the caller allows, claim, launch. */
export async function start(world: World, request: StartRequest, ask: Ask = () => null): Promise<Started> {
  let plan: Plan | null = null
  try {
    plan = await prepare(world, request)
    const started = await startPlanned(plan)
    if (started.kind === 'attach') await discard(plan)
    return started
  } catch (error) {
    if (plan !== null) await discard(plan)
    const onLive = error instanceof Problem && error.kind === 'held' ? ask(error) : null
    if (onLive !== null) return start(world, { ...request, onLive })
    // Only now: who is asked and goes on was never refused.
    await recordRefusal(world, request, plan, error)
    throw error
  }
}

/** A worktree that was made for a start that came to nothing; unless somebody else has found his way into it. */
async function discard({ world, store, made }: Plan): Promise<void> {
  if (made !== null) await removeUnused(world, store, made)
}

async function startPlanned(first: Plan): Promise<Started> {
  const { world, request } = first
  let plan = first
  const retired: RunEnd[] = []
  const began = world.clock.elapsed()
  for (let steps = 0; steps < world.policy.claimSteps; ) {
    // It may have got another id meanwhile.
    const view = await viewOf(plan)
    plan = { ...plan, session: view?.session.id ?? plan.session }
    const last = view?.run ?? null
    const { decision, beside } = await decide(plan, view)
    if (decision.kind === 'attach') return { kind: 'attach', run: decision.run }
    // Waiting has its own bounds; everything else makes a step.
    if (decision.kind !== 'wait') steps++
    // Nobody is retired for a claim that would be refused.
    const retires = decision.kind === 'retire' || decision.kind === 'end-forgotten'
    if (retires) refuseMissingProgram(plan)
    // Two in one directory is a risk; two in one conversation is the harm itself.
    if (decision.kind === 'claim' || retires) await refuseCarried(plan, retires)
    const unmanaged = decision.kind === 'claim' || retires ? await besideUnmanaged(plan, beside.delegated) : []
    if (decision.kind !== 'claim') await clearTheWay(plan, decision, retired, began)
    else {
      if (last !== null) await dismissKeeper(last, world)
      const notes = await notesOn(plan, beside)
      const run = await claim(plan, decision.seenEpoch, beside, unmanaged)
      if (run === null) continue
      const started = await (request.adopt === undefined ? launch(plan, run, retired, notes) : takeIn(plan, run, request.adopt))
      // Last: nothing of this start waits for it, and nothing of it can be taken for litter.
      return { ...started, notes: [...started.notes, ...(await reapInPassing(world))] }
    }
  }
  throw new Problem('session-contended', `could not claim session ${plan.session}: too many competing starts`, { hint: 'try again' })
}

async function viewOf({ store, session }: Plan): Promise<SessionView | null> {
  const found: Found = await store.sessions.find(session, 'exact')
  return found.kind === 'found' ? found.view : null
}

/** A conversation that somebody outside carries is not begun a second time, wherever that one works. */
async function refuseCarried({ world, spoken: { harness, native, continues }, request, session, directory }: Plan, retires: boolean): Promise<void> {
  // Who is about to be retired is not in the way.
  if (harness !== null && continues && !retires) refuseNewest(world, harness, directory)
  if (harness === null || native === null || request.adopt !== undefined) return
  await refuseOwned(world, { harness: harness.name, id: native }, session, request.allowUnmanaged === true)
}

type Look = { readonly decision: ClaimDecision; readonly beside: Beside }

async function decide(plan: Plan, view: SessionView | null): Promise<Look> {
  const { world, request } = plan
  if (plan.front !== null && world.own.parent() !== plan.front.keeper.pid)
    throw new Problem('front-gone', 'the command that waited for this plan is gone; nothing was started')
  const current = toJudge(view?.run ?? null)
  const beside = await whoIsThere(plan, current)
  const judged = current && { run: current, verdict: verdict(current, await lookAt(current, world)) }
  const choice: Choice = { onLive: request.onLive, force: request.force ?? false, share: request.share ?? false }
  const { holdings, forgotten } = beside
  const seen = { epoch: view?.session.epoch ?? 0, firstEpoch: plan.firstEpoch, current: judged, holdings, forgotten }
  return { decision: decideClaim(seen, choice), beside }
}

/** What is held by a run around us, by a process we were started from, or by our own session, is not in our way. */
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

/** What a person should know who has just taken a directory. */
async function notesOn({ world, directory, request }: Plan, { holdings, neighbours }: Beside): Promise<string[]> {
  const judged = await judgeLocks(world, neighbours)
  const home = world.env['HOME'] ?? '/'
  const isWide = home === directory.path || home.startsWith(`${directory.path === '/' ? '' : directory.path}/`)
  return [
    ...(isWide ? [`this run locks ${directory.path} and everything below it; others need --share or --worktree`] : []),
    ...(request.share === true ? holdings.map(({ lock }) => `it shares ${lock.directory.path} with ${lock.session ?? lock.user}`) : []),
    ...neighbours
      .filter(({ seq }) => judged.get(seq)?.kind !== 'free')
      .map((lock) => `${lock.session ?? lock.user} works in ${lock.directory.path}, another worktree of the same repository`),
  ]
}

async function launch(plan: Plan, run: RunBase, retired: readonly RunEnd[], notes: readonly string[]): Promise<Begun> {
  const { world, store, request, front, lineage } = plan
  const umask = request.umask ?? world.behalf?.umask ?? world.own.umask()
  let keeper: ProcessId
  try {
    // Where it cannot be made, the stub cannot enter it, and says so by not saying where it is.
    if (run.containment.level === 'cgroup') world.containers.make(run.containment.path)
    const record = { ...run, keeper: front?.keeper ?? null }
    const about = { lineage, timeoutMs: request.timeoutMs ?? null, front, umask, base: plan.base, ...equip(plan, record) }
    const launch = launchOf(world, record, about)
    if (front !== null) {
      handOver(world, launch)
      return { kind: 'handed-over', run, retired, notes }
    }
    keeper = await launchDetached(world, store, launch)
  } catch (error) {
    await abandon(world, store, run, error)
    throw error
  }
  return { kind: 'running', run, harness: await untilHarness(world, store, run, keeper), retired, notes }
}
