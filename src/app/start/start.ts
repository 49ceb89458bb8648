import { dismissKeeper, type RunEnd } from '../../act/index.ts'
import type { ProcessId, RunBase } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import type { Caller } from '../caller/prove-caller.ts'
import { judgeLocks } from '../lock/judge-locks.ts'
import { reapInPassing } from '../maintenance/tidy-at-start.ts'
import { leaveToNext } from '../usage/shared-conversations.ts'
import { removeUnused } from '../worktree/remove-worktree.ts'
import type { World } from '../world/world.ts'
import { takeIn } from './adopt-process-tree.ts'
import { claim } from './claim.ts'
import { clearTheWay, endLeft } from './clear-the-way.ts'
import { conversationLeft } from './conversation-left.ts'
import { equip } from './create-run-files.ts'
import { abandon, handOver, launchDetached, launchOf, untilHarness } from './launch.ts'
import { type Beside, contended, effectOf, type Look, lookAndDecide } from './look.ts'
import type { Plan } from './plan.ts'
import { pass } from './preflight.ts'
import { planOf, withCaller, withCommand, withPlace, withSession, withWorktree } from './prepare.ts'
import { recordRefusal } from './record-refusal.ts'
import type { StartRequest } from './request.ts'
import type { Begun, Started } from './started.ts'

/** Asked where a start is about to be refused because of a live owner or of the conversation that it would leave; null: leave it so. */
type Ask = (refusal: Problem) => Answer | null
export type Answer = Partial<Pick<StartRequest, 'onLive' | 'newConversation'>>

/** Start a session's next run: plan, look, decide, clear the way as far as the caller allows, claim, launch. `proven`: the caller, as just proven. */
export async function start(world: World, request: StartRequest, ask: Ask = () => null, proven: Caller | null = null): Promise<Started> {
  let plan: Plan | null = null
  try {
    plan = await planned(world, request, proven)
    return await startPlanned(plan)
  } catch (error) {
    const answer = error instanceof Problem && mayBeAsked(error) ? ask(error) : null
    if (answer !== null) return start(world, { ...request, ...answer }, ask)
    // Only now: a start that goes on after the question was never refused.
    await recordRefusal(world, request, plan, error)
    throw error
  }
}

const mayBeAsked = ({ kind, id }: Problem): boolean => kind === 'held' || id === 'conversation-would-be-left'

/** Request, caller, command, session, place: each is gathered, then checked, before the next is. */
async function planned(world: World, request: StartRequest, proven: Caller | null): Promise<Plan> {
  const asked = { world, asked: request }
  await pass('request', asked)
  const called = await withCaller(asked, proven)
  await pass('caller', called)
  const worded = withCommand(called)
  await pass('command', worded)
  const known = await withSession(worded)
  await pass('session', known)
  const placed = withPlace(known)
  await pass('place', placed)
  return planOf(placed)
}

/** A worktree that was made for a start that came to nothing is removed again, unless somebody else works in it by now. */
async function startPlanned(plan: Plan): Promise<Started> {
  const worktrees: string[] = []
  const discard = async (): Promise<void> => {
    for (const path of worktrees) await removeUnused(plan.world, plan.store, path)
  }
  try {
    const started = await stepByStep(plan, worktrees)
    if (started.kind === 'attach') await discard()
    return started
  } catch (error) {
    await discard()
    throw error
  }
}

async function stepByStep(first: Plan, worktrees: string[]): Promise<Started> {
  const { world } = first
  let plan = first
  const retired: RunEnd[] = []
  const began = world.clock.elapsed()
  for (let steps = 0; steps < world.policy.claimSteps; ) {
    await pass('step', plan)
    const look = await lookAndDecide(plan)
    const { decision } = look
    plan = look.plan
    if (decision.kind === 'attach') return { kind: 'attach', run: decision.run }
    // Nothing is ended, made or claimed for a start that would be refused.
    const effect = effectOf(look)
    const makesWorktree = effect !== null && plan.unmade !== null
    // Waiting has its own bounds, and a worktree is made once; everything else makes a step.
    if (decision.kind !== 'wait' && !makesWorktree) steps++
    if (effect !== null) await pass(effect, look)
    if (makesWorktree) {
      const { plan: next, made } = await withWorktree(plan)
      if (made !== null) worktrees.push(made)
      plan = next
    } else if (decision.kind !== 'claim') await clearTheWay(plan, decision, retired, began)
    else {
      const started = await claimAndLaunch(look, decision.seenEpoch, retired)
      if (started !== null) return started
    }
  }
  throw contended(plan.session)
}

/** Null: somebody was first, look again. */
async function claimAndLaunch({ plan, beside, known, last, unmanaged }: Look, seenEpoch: number, retired: RunEnd[]): Promise<Started | null> {
  const { world, request } = plan
  if (last !== null) {
    await dismissKeeper(last, world)
    const stuck = await endLeft(plan, last.id)
    if (stuck !== null) retired.push(stuck)
  }
  const left = conversationLeft(plan, known, last)
  const notes = [...(await notesOn(plan, beside)), ...(left === null ? [] : [leftText(left)])]
  const run = await claim(plan, seenEpoch, beside, await unmanaged())
  if (run === null) return null
  const started = await (request.adopt === undefined ? launch(plan, run, retired, notes) : takeIn(plan, run, request.adopt))
  // Last: nothing of this start waits for it, and nothing of it can be taken for litter.
  return { ...started, notes: [...started.notes, ...(await reapInPassing(world))] }
}

const leftText = (left: string): string => `the conversation ${left} of this session is left; holdfast resume ${left} goes on with it`

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
  const umask = request.umask ?? world.actingFor?.umask ?? world.own.umask()
  let keeper: ProcessId
  try {
    // Where it cannot be made, the stub cannot enter it, and says so by not saying where it is.
    if (run.containment.level === 'cgroup') world.containers.make(run.containment.path)
    const record = { ...run, keeper: front?.keeper ?? null }
    const { harness, native } = plan.spoken
    if (harness !== null && native !== null) await leaveToNext(world, store, run, { harness: harness.name, id: native })
    const about = { lineage, timeoutMs: request.timeoutMs ?? null, front, umask, base: plan.base, ...equip(plan, record) }
    const launch = launchOf(world, record, about)
    if (front !== null) {
      // Its directory is there by now. A store that is put in place from here on is compared with it; one that was before does not know this run.
      if (store.isReplaced())
        throw new Problem('store-replaced', 'the store was replaced during the start; nothing was started', { hint: 'try again' })
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
