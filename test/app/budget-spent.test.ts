import { expect, test } from 'vitest'
import { intentFor } from '../../src/app/end/end-reasons.ts'
import { hasBudget, spentOf } from '../../src/app/usage/budget-spent.ts'
import { NO_TOKENS } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

type Case = readonly [burned: number, cost: number | null, budget: number | null, budgetCost: number | null, spent: string | null]
/** What a sum of ten answers comes to. */
const TEN_TENTHS = Array<number>(10)
  .fill(0.1)
  .reduce((sum, one) => sum + one)

verifies('bounded', 'a budget is spent when it is reached, in tokens or in dollars; a cost that is not known ends nothing', () => {
  const cases: readonly Case[] = [
    [999, null, 1000, null, null],
    [1000, null, 1000, null, '1000 of 1000 tokens'],
    [1500, 9, 1000, null, '1500 of 1000 tokens'],
    [10, 9, 1000, null, null],
    [10, 1.99, null, 2, null],
    [10, 1.999, null, 2, null],
    [10, 2, null, 2, '$2.00 of $2'],
    [10, 2.03, null, 2, '$2.03 of $2'],
    [10, 0.5, null, 0.5, '$0.50 of $0.50'],
    [10, TEN_TENTHS, null, 1, '$1.00 of $1'],
    [1e9, null, null, 0.01, null],
    [1e9, 1e9, null, null, null],
    [1000, 0.1, 1000, 2, '1000 of 1000 tokens'],
    [10, 2, 1000, 2, '$2.00 of $2'],
  ]
  expect(TEN_TENTHS).toBeLessThan(1)
  for (const [burned, cost, budget, budgetCost, spent] of cases)
    expect(spentOf({ tokens: { ...NO_TOKENS, input: burned, cost } }, { budget, budgetCost }), `${burned}, ${cost}`).toBe(spent && `BUDGET ${spent}`)
  expect(spentOf(null, { budget: 1, budgetCost: 0.01 })).toBeNull()
})

test('a run has a budget in tokens, in dollars, or none', () => {
  expect([hasBudget({ budget: 1, budgetCost: null }), hasBudget({ budget: null, budgetCost: 1 })]).toEqual([true, true])
  expect(hasBudget({ budget: null, budgetCost: null })).toBe(false)
})

test.each([
  ['BUDGET $2.03 of $2', 'its budget was spent (--budget): $2.03 of $2'],
  ['BUDGET 1100 of 1000 tokens', 'its budget was spent (--budget): 1100 of 1000 tokens'],
])('%s: %s', (why, reason) => expect(intentFor(why)).toEqual({ end: 'stopped', by: 'budget', reason }))
