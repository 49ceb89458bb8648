import { dismissKeeper, endRun, endWhatIsLeft, lookAt, type RunEnd } from '../act/index.ts'
import { areWorktrees, type Choice, type ClaimDecision, decideClaim, toJudge, verdict } from '../decide/index.ts'
import type { Found, Intent, LiveRun, Lock, ProcessId, Run, RunBase } from '../model/index.ts'
import { isLive, Problem } from '../model/index.ts'
import { isProgram } from '../observe/index.ts'
import { type Beside, claim } from './claim.ts'
import { endForgotten, type Forgotten } from './forgotten.ts'
import { abandon, handOver, launchDetached, launchOf, untilHarness } from './launch.ts'
import { holdingsOf, holdingsOn, judgeLocks, touching, whoseLocks } from './locks.ts'
import { type Plan, prepare, type StartRequest } from './prepare.ts'
import { refusal } from './refusal.ts'
import { takeIn } from './take-in.ts'
import { besideUnmanaged } from './unmanaged.ts'
import { removeUnused } from './worktree.ts'
import type { World } from './world.ts'

export type Started =
  | {
      readonly kind: 'running'
      readonly run: RunBase
      readonly harness: ProcessId
      readonly retired: readonly RunEnd[]
      readonly notes: readonly string[]
    }
  /** The shell that called us becomes the keeper. */
  | { readonly kind: 'handed-over'; readonly run: RunBase; readonly retired: readonly RunEnd[]; readonly notes: readonly string[] }
  | { readonly kind: 'attach'; readonly run: LiveRun }

/** Start a session's next run: look, decide, clear the way as far as the caller allows, claim, launch. */
export async function start(world: World, request: StartRequest): Promise<Started> {
  const plan = await prepare(world, request)
  try {
    const started = await startPlanned(plan)
    if (started.kind === 'attach') await discard(plan)
    return started
  } catch (error) {
    await discard(plan)
    throw error
  }
}

/** A worktree that was made for a start that came to nothing; unless somebody else has found his way into it. */
async function discard({ world, store, made }: Plan): Promise<void> {
  if (made !== null) await removeUnused(world, store, made)
}

async function startPlanned(plan: Plan): Promise<Started> {
  const { world, request } = plan
  const retired: RunEnd[] = []
  const began = world.clock.elapsed()
  for (let steps = 0; steps < world.policy.claimSteps; ) {
    const { decision, last, beside } = await decide(plan)
    if (decision.kind === 'attach') return { kind: 'attach', run: decision.run }
    // Waiting has its own bounds; everything else makes a step.
    if (decision.kind !== 'wait') steps++
    // Nobody is retired for a claim that would be refused.
    const retires = decision.kind === 'retire' || decision.kind === 'end-forgotten'
    if (retires) refuseMissingProgram(plan)
    const unmanaged = decision.kind === 'claim' || retires ? await besideUnmanaged(plan, beside.delegated) : []
    if (decision.kind !== 'claim') await clearTheWay(plan, decision, retired, began)
    else {
      if (last !== null) await dismissKeeper(last, world)
      const notes = await notesOn(plan, beside)
      const run = await claim(plan, decision.seenEpoch, beside, unmanaged)
      if (run !== null) return request.adopt === undefined ? launch(plan, run, retired, notes) : takeIn(plan, run, request.adopt)
    }
  }
  throw new Problem('held', `session ${plan.session} could not be claimed: others are at it`, { hint: 'try again' })
}

/** What cannot be started is told before anybody is ended for it. */
function refuseMissingProgram({ world, request, directory }: Plan): void {
  const [program = ''] = request.argv
  if (request.adopt === undefined && !isProgram(program, directory.path, world.env['PATH']))
    throw new Problem('noSuchSession', `could not start ${program}: not found (ENOENT); nobody was ended for it`)
}

type Look = { readonly decision: ClaimDecision; readonly last: Run | null; readonly beside: Beside }

async function decide(plan: Plan): Promise<Look> {
  const { world, store, request } = plan
  if (plan.front !== null && process.ppid !== plan.front.keeper.pid)
    throw new Problem('held', 'the command that waited for this plan is gone; nothing was started')
  const found: Found = await store.find(plan.session, 'exact')
  const view = found.kind === 'found' ? found.view : null
  const current = toJudge(view?.run ?? null)
  const beside = await whoIsThere(plan, current)
  const judged = current && { run: current, verdict: verdict(current, await lookAt(current, world)) }
  const choice: Choice = { onLive: request.onLive, force: request.force ?? false, share: request.share ?? false }
  const { holdings, forgotten } = beside
  const seen = { epoch: view?.session.epoch ?? 0, firstEpoch: plan.firstEpoch, current: judged, holdings, forgotten }
  return { decision: decideClaim(seen, choice), last: view?.run ?? null, beside }
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
    ...(isWide ? [`it holds ${directory.path} with everything below: who wants to work there too needs --share or --worktree`] : []),
    ...(request.share === true ? holdings.map(({ lock }) => `it shares ${lock.directory.path} with ${lock.session ?? lock.user}`) : []),
    ...neighbours
      .filter(({ seq }) => judged.get(seq)?.kind !== 'free')
      .map((lock) => `${lock.session ?? lock.user} works in ${lock.directory.path}, another worktree of the same repository`),
  ]
}

/** Everything short of claiming: record an end, end leftovers, retire, wait, or refuse. */
async function clearTheWay(
  plan: Plan,
  decision: Exclude<ClaimDecision, { kind: 'claim' | 'attach' }>,
  retired: RunEnd[],
  began: number,
): Promise<void> {
  const { world, store, request } = plan
  const ender = { ...world, store }
  switch (decision.kind) {
    case 'clear':
      for (const { run, ending } of decision.ends) {
        await store.recordEnded(run, ending, world.files.harness(run.id), world.clock.now())
        // What another session's run has left is not ended because of a directory.
        if (run.session === plan.session) await endLeft(plan, run.id)
      }
      for (const lock of decision.locks) await store.unlock(lock, null, world.clock.now())
      return
    case 'end-leftovers': {
      const end = await endRun(decision.run, ender, { intent: null, graceMs: world.policy.leftoverGraceMs })
      if (end.kind === 'survivors') throw survivorsProblem(end, 'leftovers')
      return
    }
    case 'retire':
      return retire(plan, decision.run, retired)
    case 'end-forgotten': {
      const end = await endForgotten(world, store, decision.lock as Forgotten, intentOfTakeover(world), graceOf(plan))
      if (end.kind === 'survivors') throw survivorsProblem(end, 'processes')
      if (end.kind === 'ended') retired.push(end)
      return
    }
    case 'wait':
      // A wait that nobody asked for is only for what is about to be settled anyway.
      if (world.clock.elapsed() - began >= (decision.settling ? world.policy.settleMs : (request.waitMs ?? 0))) {
        const waitedMs = world.clock.elapsed() - began
        throw refusal({ for: decision.for, because: 'held', why: decision.why, waitedMs }, world, plan.directory)
      }
      if (decision.settling && decision.for.what === 'session') await settle(decision.for.run, plan)
      else await world.clock.sleep(world.policy.pollMaxMs)
      return
    case 'refuse':
      throw refusal(decision, world, plan.directory, request.adopt === undefined ? 'run' : 'adopt')
  }
}

const intentOfTakeover = (world: World): Intent => {
  const by = `${world.user()}@${world.host} (pid ${world.processes.self().pid})`
  return { end: 'superseded', by, reason: `taken over by ${by}` }
}
const graceOf = ({ request, world }: Plan): number => request.graceMs ?? world.policy.graceMs

/** Ends the owner, and proves it. */
async function retire(plan: Plan, run: LiveRun, retired: RunEnd[]): Promise<void> {
  const { world, store, request } = plan
  if (plan.ancestors.includes(run.id)) {
    throw new Problem('held', `this command runs inside session ${run.session}, which it would have to end first`, {
      hint: 'take it over from outside',
    })
  }
  const how = { intent: intentOfTakeover(world), graceMs: graceOf(plan), despiteUnknown: request.force ?? false }
  const end = await endRun(run, { ...world, store }, how)
  const isOwn = end.run.id === run.id
  if (end.kind === 'survivors' && isOwn) throw survivorsProblem(end, 'processes')
  if (end.kind === 'unknown' && isOwn) throw refusal({ for: { what: 'session', run }, because: 'unproven', why: end.why }, world, plan.directory)
  // The owner is over. A run that was started in it and could not be ended is a session of its own, and is told of.
  const own = await store.run(run.id)
  if (!isOwn && own !== null) retired.push({ kind: 'ended', run: own, ended: [], spared: [], unrecorded: null })
  retired.push(end)
}

/** What was started in a run that is over now goes before the next one comes. */
async function endLeft({ world, store }: Plan, id: string): Promise<void> {
  const run = await store.run(id)
  if (run !== null && !isLive(run)) await endWhatIsLeft(run, { ...world, store }, { intent: null, graceMs: world.policy.leftoverGraceMs })
}

/** Somebody is about to write down an end: give it a moment, then help. */
async function settle(run: LiveRun, { world, store }: Plan): Promise<void> {
  await endRun(run, { ...world, store }, { intent: null, graceMs: world.policy.leftoverGraceMs })
}

async function launch(plan: Plan, run: RunBase, retired: readonly RunEnd[], notes: readonly string[]): Promise<Started> {
  const { world, store, request, front, lineage } = plan
  const umask = request.umask ?? process.umask()
  const about = { lineage, timeoutMs: request.timeoutMs ?? null, front, umask, base: plan.base }
  let keeper: ProcessId
  try {
    // Where it cannot be made, the stub cannot enter it, and says so by not saying where it is.
    if (run.containment.level === 'cgroup') world.containers.make(run.containment.path)
    const launch = launchOf(world, { ...run, keeper: front?.keeper ?? null }, about)
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

function survivorsProblem(end: Extract<RunEnd, { kind: 'survivors' }>, what: string): Problem {
  const names = end.survivors.map(({ pid, name, why }) => `pid ${pid} (${name}): ${why}`)
  return new Problem('survivors', `${what} of session ${end.run.session} could not be ended, and nothing was started: ${names.join('; ')}`, {
    hint: 'end them as their user, then try again',
    detail: { survivors: end.survivors },
  })
}

export type { StartRequest }
