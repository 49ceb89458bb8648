import type { Ended, Run } from '../model/index.ts'
import { isLive, Problem, shellCode } from '../model/index.ts'
import { seeOne } from './see.ts'
import type { World } from './world.ts'

/** Waits for the end of the run that is a session's newest now, however it comes. Null: the time was over first. */
export async function waitForEnd(world: World, reference: string, timeoutMs: number | null): Promise<Ended | null> {
  const until = timeoutMs === null ? Number.POSITIVE_INFINITY : world.clock.elapsed() + timeoutMs
  let run: Run = (await seeOne(world, reference)).run
  for (let delay = world.policy.pollMaxMs; isLive(run); delay = Math.min(delay * 2, world.policy.followMs * 5)) {
    if (world.clock.elapsed() >= until) return null
    await world.clock.sleep(Math.min(delay, Math.max(1, until - world.clock.elapsed())))
    const newest = (await seeOne(world, reference)).run
    // A next run was started: ours is over, and its own row tells how.
    run = newest.id === run.id ? newest : ((await (await world.store('reader')).run(run.id)) ?? newest)
  }
  return run
}

/** The code a command would give. No evidence, no code: then 1. */
export function codeOf(run: Run): number {
  if (isLive(run)) throw new Problem('bug', `run ${run.id} has not ended`)
  return run.exit === null ? 1 : shellCode(run.exit)
}

/** How a run ended, if it has. */
export async function endOf(world: World, id: string): Promise<Ended | null> {
  const run = await (await world.store('reader')).run(id)
  return run === null || isLive(run) ? null : run
}
