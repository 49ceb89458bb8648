import { isThere } from '../../act/index.ts'
import type { LiveRun, Store } from '../../model/index.ts'
import { totalTokens } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { countAllNested, sumOf } from './count-nested.ts'
import { type Count, type Counting, countTokens } from './count-tokens.ts'
import { doubtsOf } from './shared-conversations.ts'

/** What a run has burned, if that is all that it might. `leave`: as long as its own timer lives, that sees to it. */
export async function spentBy(world: World, store: Store, run: LiveRun, leave: boolean): Promise<string | null> {
  if (run.budget === null) return null
  const timer = leave ? world.evidence.timer(run.id) : null
  if (timer !== null && isThere(timer, world.processes)) return null
  return spentOf(await countSpent(world, store, run), run.budget)
}

/** What counts against the budget of a run: all that it has surely spent itself, the agents inside it included. */
export async function countSpent(world: Counting, store: Store, run: LiveRun): Promise<Count | null> {
  const doubts = await doubtsOf(world, store, run.id)
  const own = countTokens(world, run.id, 'all', false, doubts)
  const nested = countAllNested(world, run.id, 'all', doubts)
  return own === null || nested === null ? (own ?? nested) : sumOf(own, nested)
}

export function spentOf(count: Count | null, budget: number): string | null {
  const burned = count === null ? 0 : totalTokens(count.tokens)
  return burned < budget ? null : `BUDGET ${burned} of ${budget}`
}
