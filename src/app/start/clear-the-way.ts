import { endRun, endWhatIsLeft, type RunEnd, withSuspects } from '../../act/index.ts'
import type { ClaimDecision } from '../../decide/index.ts'
import type { Intent, LiveRun } from '../../model/index.ts'
import { isLive, Problem } from '../../model/index.ts'
import { refusal } from '../lock/refusal-message.ts'
import { endForgotten, type Forgotten } from '../lock/trees-without-record.ts'
import { closePane } from '../pane/join-pane.ts'
import type { World } from '../world/world.ts'
import type { Plan } from './plan.ts'

/** Everything short of claiming: record an end, end leftovers, retire, wait, or refuse. */
export async function clearTheWay(
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
        await store.claims.recordEnded(run, ending, world.evidence.harness(run.id), world.clock.now())
        // What another session's run has left is not ended because of a directory.
        if (run.session === plan.session) await endLeft(plan, run.id)
      }
      for (const lock of decision.locks) await store.locks.free(lock, null, world.clock.now())
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
      if (end.kind === 'unknown')
        throw new Problem('tree-unproven', `what lives of session ${plan.session} cannot be proven gone, and nothing was started: ${end.why}`, {
          hint: 'look from where it runs',
        })
      retired.push(end)
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
  const how = { intent: intentOfTakeover(world), graceMs: graceOf(plan), despiteUnknown: request.force ?? false }
  const [end] = (await withSuspects([await endRun(run, { ...world, store }, how)], world)) as [RunEnd]
  const isOwn = end.run.id === run.id
  if (end.kind === 'survivors' && isOwn) throw survivorsProblem(end, 'processes')
  if (end.kind === 'unknown' && isOwn) throw refusal({ for: { what: 'session', run }, because: 'unproven', why: end.why }, world, plan.directory)
  await closePane(world, end.run)
  // The owner is over. A run that was started in it and could not be ended is a session of its own, and is told of.
  const own = await store.runs.get(run.id)
  if (!isOwn && own !== null) retired.push({ kind: 'ended', run: own, ended: [], spared: [], unrecorded: null })
  retired.push(end)
}

/**
 * Runs that were started in a run that is over end before the next one begins. A look may have recorded that end, which signals nobody.
 * Answers the first that could not be ended: it is a session of its own, and is told of.
 */
export async function endLeft({ world, store }: Plan, id: string): Promise<RunEnd | null> {
  const run = await store.runs.get(id)
  if (run === null || isLive(run) || (await store.runs.children(id)).length === 0) return null
  const end = await endWhatIsLeft(run, { ...world, store }, { intent: null, graceMs: world.policy.leftoverGraceMs })
  return end.kind === 'ended' ? null : end
}

/** Somebody is about to write down an end: give it a moment, then help. */
async function settle(run: LiveRun, { world, store }: Plan): Promise<void> {
  await endRun(run, { ...world, store }, { intent: null, graceMs: world.policy.leftoverGraceMs })
}

function survivorsProblem(end: Extract<RunEnd, { kind: 'survivors' }>, what: string): Problem {
  const names = end.survivors.map(({ pid, name, why }) => `pid ${pid} (${name}): ${why}`)
  return new Problem('survivors-remain', `${what} of session ${end.run.session} could not be ended, and nothing was started: ${names.join('; ')}`, {
    hint: 'end them as their user, then try again',
    detail: { survivors: end.survivors },
  })
}
