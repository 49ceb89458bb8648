import type { Ended, Run } from '../../model/index.ts'
import { intentOf, isLive, Problem } from '../../model/index.ts'
import { seeOne } from '../see/look-at-sessions.ts'
import type { World } from '../world/world.ts'
import { finishRun } from './finish.ts'

/** Waits for the end of the run that is a session's newest now, however it comes. Null: the time was over first. */
export async function waitForEnd(world: World, reference: string, timeoutMs: number | null): Promise<Ended | null> {
  const { clock, policy } = world
  const until = timeoutMs === null ? Number.POSITIVE_INFINITY : clock.elapsed() + timeoutMs
  let run: Run = (await seeOne(world, reference)).run
  let overSince: number | null = null
  for (let delay = policy.pollMaxMs; isLive(run); delay = Math.min(delay * 2, policy.followMs * 5)) {
    if (clock.elapsed() >= until) return null
    // Its agent is over and nobody asked for that: if whoever should end what it left does not, we do.
    overSince = run.state === 'stopping' && intentOf(run) === null ? (overSince ?? clock.elapsed()) : null
    if (overSince !== null && clock.elapsed() - overSince >= policy.exitRecordMs + policy.leftoverGraceMs) await finishRun(world, run.id)
    else await clock.sleep(Math.min(delay, Math.max(1, until - clock.elapsed())))
    const newest = (await seeOne(world, reference)).run
    // A next run was started: ours is over, and its own row tells how.
    run = newest.id === run.id ? newest : ((await (await world.store('reader')).runs.get(run.id)) ?? newest)
  }
  return run
}

/** The code a command would give. No evidence, no code: then 1. */
export function codeOf(run: Run): number {
  if (isLive(run)) throw new Problem('invariant-broken', `run ${run.id} has not ended`)
  return run.exit?.code ?? 1
}
