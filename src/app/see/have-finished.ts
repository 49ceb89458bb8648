import { guardOf } from '../../act/index.ts'
import type { Verdict } from '../../decide/index.ts'
import type { Fact, LiveRun } from '../../model/index.ts'
import { intentOf } from '../../model/index.ts'
import { runOutside } from '../world/run-outside.ts'
import type { World } from '../world/world.ts'

/**
 * An agent ended together with its keeper and its guard, and left processes: nobody is there to end them, so a command that only looks has that done.
 * Survivors of an earlier try are a person's to see to. Answers whether it has begun.
 */
export async function haveFinished(world: World, run: LiveRun, judged: Verdict, keeper: Fact | null): Promise<boolean> {
  if (judged.kind !== 'leftovers' || keeper?.kind !== 'gone' || intentOf(run) !== null) return false
  if ((run.state === 'stopping' && run.survivors.length > 0) || guardOf(run, world) !== null) return false
  return runOutside(world, ['_finish', run.id]).then(
    () => true,
    // Looking fails for no want of processes.
    () => false,
  )
}
