import { isThere } from '../../act/index.ts'
import type { LiveRun, Run, Store } from '../../model/index.ts'
import { dollarsText, totalTokens } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { countAllNested, sumOf } from './count-nested.ts'
import { type Count, type Counting, countTokens } from './count-tokens.ts'
import { doubtsOf } from './shared-conversations.ts'

/** What a run has burned, if that is all that it might. `leave`: as long as its own timer lives, that sees to it. */
export async function spentBy(world: World, store: Store, run: LiveRun, leave: boolean): Promise<string | null> {
  if (!hasBudget(run)) return null
  const timer = leave ? world.evidence.timer(run.id) : null
  if (timer !== null && isThere(timer, world.processes)) return null
  return spentOf(await countSpent(world, store, run), run)
}

/** What counts against the budget of a run: all that it has surely spent itself, the agents inside it included. */
export async function countSpent(world: Counting, store: Store, run: LiveRun): Promise<Count | null> {
  const doubts = await doubtsOf(world, store, run.id)
  const own = countTokens(world, run.id, 'all', false, doubts)
  const nested = countAllNested(world, run.id, 'all', doubts)
  return own === null || nested === null ? (own ?? nested) : sumOf(own, nested)
}

type Budget = Pick<Run, 'budget' | 'budgetCost'>

export const hasBudget = ({ budget, budgetCost }: Budget): boolean => budget !== null || budgetCost !== null

/** What was burned of which budget, once that is spent. A cost that nobody knows ends nothing. */
export function spentOf(count: Pick<Count, 'tokens'> | null, { budget, budgetCost }: Budget): string | null {
  if (count === null) return null
  const burned = totalTokens(count.tokens)
  if (budget !== null && burned >= budget) return `BUDGET ${burned} of ${budget} tokens`
  const { cost } = count.tokens
  if (budgetCost === null || cost === null || millionths(cost) < millionths(budgetCost)) return null
  return `BUDGET $${cost.toFixed(2)} of ${dollarsText(budgetCost)}`
}

/** Of a dollar: costs are sums of fractions, which may fall short by less than that. */
const millionths = (dollars: number): number => Math.round(dollars * 1e6)
