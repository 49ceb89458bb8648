import type { LiveRun, Store } from '../model/index.ts'
import { isLive, totalTokens } from '../model/index.ts'
import { endAsked } from './finish.ts'
import { type Known, knownOf } from './harness.ts'
import { learnNative } from './native.ts'
import { filesOf, tokensOf } from './usage.ts'
import type { World } from './world.ts'

/**
 * One look of a run's timer at its agent: which conversation it carries, and whether it has burned what it may. Answers whether there is
 * more to look at.
 */
export async function followRun(world: World, id: string, what: string): Promise<boolean> {
  const store = await world.store('writer')
  const run = await store.run(id)
  const known = run === null ? null : await knownOf(world, store, run)
  if (run === null || !isLive(run) || known === null) return false
  await learnSoon(world, store, run, known)
  if (what !== 'budget') return world.files.natives(id).length === 0 && world.clock.now() - run.startedAt < world.policy.captureMs
  if (await endSpent(world, run)) return false
  world.files.recordFollowed(id, filesOf(world, id))
  return true
}

/** An agent tells its id soon after its start, if at all: at first we look often. */
async function learnSoon(world: World, store: Store, run: LiveRun, known: Known): Promise<void> {
  const { files, clock, policy } = world
  for (let delay = policy.pollMaxMs; ; delay *= 2) {
    await learnNative(world, store, run, known)
    if (files.natives(run.id).length > 0 || delay > policy.captureStepMs || files.exit(run.id) !== null) return
    await clock.sleep(delay)
  }
}

/** Ends a run that has burned its budget; false: it has not. */
export async function endSpent(world: World, run: LiveRun): Promise<boolean> {
  const tokens = run.budget === null ? null : tokensOf(world, run.id)
  if (tokens === null || run.budget === null || totalTokens(tokens) < run.budget) return false
  await endAsked(world, run.id, `BUDGET ${totalTokens(tokens)} of ${run.budget}`, null)
  return true
}
