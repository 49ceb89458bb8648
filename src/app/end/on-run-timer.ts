import type { LiveRun, Store } from '../../model/index.ts'
import { isLive } from '../../model/index.ts'
import { learnNative } from '../conversation/conversation.ts'
import { type Known, knownOf } from '../conversation/known-harness.ts'
import { liveNested } from '../conversation/nested.ts'
import { countSpent, hasBudget, spentOf } from '../usage/budget-spent.ts'
import { nestedSpentAt } from '../usage/count-nested.ts'
import { filesOf } from '../usage/count-tokens.ts'
import type { World } from '../world/world.ts'
import { endAsked } from './finish.ts'

/**
 * One look of a run's timer at its agent: which conversation it carries, and whether it has burned what it may. Answers whether there is
 * more to look at.
 */
export async function followRun(world: World, id: string, what: string): Promise<boolean> {
  const store = await world.store('writer')
  const run = await store.runs.get(id)
  const known = run === null ? null : await knownOf(world, store, run)
  if (run === null || !isLive(run) || known === null) return false
  await learnSoon(world, store, run, known)
  if (what !== 'budget') return world.agentState.natives(id).length === 0 && world.clock.now() - run.startedAt < world.policy.captureMs
  const spent = hasBudget(run) ? await endSpent(world, store, run) : 'within'
  if (spent === 'ended') return false
  // With no file to wait for, the timer lets us look again at once.
  world.usageFiles.recordFollowed(id, spent === 'more' || hasYoungInside(world, run) ? [] : filesOf(world, id))
  return true
}

/** An agent inside whose conversation is not known yet: it tells that soon after its start, if at all. */
const hasYoungInside = (world: World, run: LiveRun): boolean =>
  liveNested(world, run).some((agent) => world.clock.now() - agent.startedAt < world.policy.captureMs && nestedSpentAt(world, run.id, agent) === null)

/** An agent tells its id soon after its start, if at all: at first we look often. */
async function learnSoon(world: World, store: Store, run: LiveRun, known: Known): Promise<void> {
  const { evidence, agentState, clock, policy } = world
  for (let delay = policy.pollMaxMs; ; delay *= 2) {
    await learnNative(world, store, run, known.session)
    if (agentState.natives(run.id).length > 0 || delay > policy.captureStepMs || evidence.exit(run.id) !== null) return
    await clock.sleep(delay)
  }
}

/** Ends a run that has burned its budget. `more`: there was too much to read at once. */
async function endSpent(world: World, store: Store, run: LiveRun): Promise<'ended' | 'within' | 'more'> {
  const count = await countSpent(world, store, run)
  const spent = spentOf(count, run)
  if (spent === null) return count?.more === true ? 'more' : 'within'
  await endAsked(world, run.id, spent, null)
  return 'ended'
}
