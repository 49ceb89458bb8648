import { dismissKeeper, endRun, endWhatIsLeft, lookAt, type RunEnd } from '../act/index.ts'
import { type Choice, type ClaimDecision, decideClaim, type Holding, type Obstacle, toJudge, verdict } from '../decide/index.ts'
import type { Found, LiveRun, ProcessId, Run, RunBase, SharedWith } from '../model/index.ts'
import { isLive, Problem } from '../model/index.ts'
import { terminalName } from '../observe/index.ts'
import { containmentFor } from './contain.ts'
import { abandon, handOver, launchDetached, launchOf, newCookie, newMarker, newRunId, untilHarness } from './launch.ts'
import { holdingsOn, touching, whoseLocks } from './locks.ts'
import { nameTaken, type Plan, parentEnding, prepare, type StartRequest } from './prepare.ts'
import { refusal } from './refusal.ts'
import type { World } from './world.ts'

export type Started =
  | { readonly kind: 'running'; readonly run: RunBase; readonly harness: ProcessId; readonly retired: readonly RunEnd[] }
  /** The shell that called us becomes the keeper. */
  | { readonly kind: 'handed-over'; readonly run: RunBase; readonly retired: readonly RunEnd[] }
  | { readonly kind: 'attach'; readonly run: LiveRun }

/** Start a session's next run: look, decide, clear the way as far as the caller allows, claim, launch. */
export async function start(world: World, request: StartRequest): Promise<Started> {
  const plan = await prepare(world, request)
  const retired: RunEnd[] = []
  const began = world.clock.elapsed()
  for (let steps = 0; steps < world.policy.claimSteps; ) {
    const { decision, last, beside } = await decide(plan)
    if (decision.kind === 'attach') return { kind: 'attach', run: decision.run }
    // Waiting has its own bounds; everything else makes a step.
    if (decision.kind !== 'wait') steps++
    if (decision.kind !== 'claim') await clearTheWay(plan, decision, retired, began)
    else {
      if (last !== null) await dismissKeeper(last, world)
      const run = await claim(plan, decision.seenEpoch, beside)
      if (run !== null) return launch(plan, run, retired)
    }
  }
  throw new Problem('held', `session ${plan.session} could not be claimed: others are at it`, { hint: 'try again' })
}

type Look = { readonly decision: ClaimDecision; readonly last: Run | null; readonly beside: Beside }
/** Who holds the directory, the newest lock by then, and whether a run around us holds it already. */
type Beside = { readonly holdings: readonly Holding[]; readonly newest: number; readonly delegated: boolean }

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
  const seen = { epoch: view?.session.epoch ?? 0, firstEpoch: plan.firstEpoch, current: judged, holdings: beside.holdings }
  return { decision: decideClaim(seen, choice), last: view?.run ?? null, beside }
}

/** What is held by a run around us, by a process we were started from, or by our own session, is not in our way. */
async function whoIsThere({ world, store, session, ancestors, directory }: Plan, current: LiveRun | null): Promise<Beside> {
  const { ours, theirs, newest } = await whoseLocks(world, store, { ancestors, session, own: current?.id ?? null })
  const around = touching(
    world,
    directory,
    ours.filter((lock) => lock.run !== current?.id),
  )
  return { holdings: await holdingsOn(world, store, directory, theirs), newest, delegated: around.length > 0 }
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
        await endLeft(plan, run.id)
      }
      for (const lock of decision.locks) await store.unlock(lock, null, world.clock.now())
      return
    case 'end-leftovers': {
      const end = await endRun(decision.run, ender, { intent: null, graceMs: world.policy.leftoverGraceMs })
      if (end.kind === 'survivors') throw survivorsProblem(end, 'leftovers')
      return
    }
    case 'retire': {
      if (plan.ancestors.includes(decision.run.id)) {
        throw new Problem('held', `this command runs inside session ${decision.run.session}, which it would have to end first`, {
          hint: 'take it over from outside',
        })
      }
      const by = `${world.user()}@${world.host} (pid ${world.processes.self().pid})`
      const intent = { end: 'superseded', by, reason: `taken over by ${by}` } as const
      const graceMs = request.graceMs ?? world.policy.graceMs
      const end = await endRun(decision.run, ender, { intent, graceMs, despiteUnknown: request.force ?? false })
      const isOwn = end.run.id === decision.run.id
      if (end.kind === 'survivors' && isOwn) throw survivorsProblem(end, 'processes')
      if (end.kind === 'unknown' && isOwn)
        throw refusal({ for: { what: 'session', run: decision.run }, because: 'unproven', why: end.why }, world, plan.directory)
      // The owner is over. A run that was started in it and could not be ended is a session of its own, and is told of.
      const own = await store.run(decision.run.id)
      if (!isOwn && own !== null) retired.push({ kind: 'ended', run: own, ended: [], spared: [], unrecorded: null })
      retired.push(end)
      return
    }
    case 'wait':
      // A wait that nobody asked for is only for what is about to be settled anyway.
      if (world.clock.elapsed() - began >= (decision.settling ? world.policy.settleMs : (request.waitMs ?? 0))) {
        const waitedMs = world.clock.elapsed() - began
        throw refusal({ for: decision.for, because: 'held', why: decision.why, waitedMs }, world, plan.directory)
      }
      if (decision.settling && obstacleRun(decision.for) !== null) await settle(obstacleRun(decision.for) as LiveRun, plan)
      else await world.clock.sleep(world.policy.pollMaxMs)
      return
    case 'refuse':
      throw refusal(decision, world, plan.directory)
  }
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

async function claim(plan: Plan, seenEpoch: number, { holdings, newest }: Beside): Promise<RunBase | null> {
  const { world, request, front, store, parent } = plan
  const id = newRunId()
  const now = world.clock.now()
  const detachedMarker = front === null && world.keepers.markerTrouble() === null ? newMarker('run') : null
  const run: RunBase = {
    id,
    session: plan.session,
    epoch: seenEpoch + 1,
    place: world.processes.here(),
    launcher: world.processes.self(),
    marker: front === null ? detachedMarker : front.marker,
    containment: containmentFor(world, id, plan.base),
    cookie: front?.cookie ?? newCookie(),
    argv: request.argv,
    dir: plan.directory.path,
    detached: front === null,
    until: request.until ?? 'harness',
    deadlineAt: request.timeoutMs === undefined ? null : now + request.timeoutMs,
    parent: parent?.id ?? null,
    independent: request.independent ?? false,
    task: request.task ?? null,
    adopted: false,
    host: world.host,
    user: world.user(),
    tty: terminalName(),
    startedAt: now,
  }
  // A keeper is in nobody's cgroup: with the claim it is another run's, and must not be hit when the run around it is.
  if (front !== null && plan.base.kind === 'base' && plan.base.inside) world.containers.admit(plan.base.path, front.keeper.pid)
  const answer = await store.claim({
    run,
    keeper: front?.keeper ?? null,
    name: request.name ?? null,
    directory: plan.directory,
    seenEpoch,
    seenLock: newest,
    share: request.share === true ? sharedWith(holdings) : null,
    reason: 'an agent works here',
    ancestors: plan.ancestors,
  })
  if (answer.kind === 'won') return run
  if (answer.why === 'name') throw nameTaken(request.name)
  if (answer.why === 'parent') throw parentEnding(parent)
  return null
}

/** Those that are there: what is over, or free, is nobody to share with. */
const sharedWith = (holdings: readonly Holding[]): SharedWith[] =>
  holdings
    .filter(({ verdict: { kind } }) => kind !== 'over' && kind !== 'free')
    .map(({ lock }) => ({ session: lock.session, run: lock.run, dir: lock.directory.path }))

const obstacleRun = (obstacle: Obstacle): LiveRun | null => (obstacle.what === 'session' ? obstacle.run : obstacle.holding.run)

async function launch(plan: Plan, run: RunBase, retired: readonly RunEnd[]): Promise<Started> {
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
      return { kind: 'handed-over', run, retired }
    }
    keeper = await launchDetached(world, store, launch)
  } catch (error) {
    await abandon(world, store, run, error)
    throw error
  }
  return { kind: 'running', run, harness: await untilHarness(world, store, run, keeper), retired }
}

function survivorsProblem(end: Extract<RunEnd, { kind: 'survivors' }>, what: string): Problem {
  const names = end.survivors.map(({ pid, name, why }) => `pid ${pid} (${name}): ${why}`)
  return new Problem('survivors', `${what} of session ${end.run.session} could not be ended, and nothing was started: ${names.join('; ')}`, {
    hint: 'end them as their user, then try again',
    detail: { survivors: end.survivors },
  })
}

export type { StartRequest }
