import { isThere } from '../../act/index.ts'
import type { LiveRun } from '../../model/index.ts'
import { totalTokens } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { countTokens } from './count-tokens.ts'

/** What a run has burned, if that is all that it might. `leave`: as long as its own timer lives, that sees to it. */
export function spentBy(world: World, run: LiveRun, leave: boolean): string | null {
  if (run.budget === null) return null
  const timer = leave ? world.evidence.timer(run.id) : null
  if (timer !== null && isThere(timer, world.processes)) return null
  return spentOf(countTokens(world, run.id, 'all', false), run.budget)
}

export function spentOf(count: ReturnType<typeof countTokens>, budget: number): string | null {
  const burned = count === null ? 0 : totalTokens(count.tokens)
  return burned < budget ? null : `BUDGET ${burned} of ${budget}`
}
