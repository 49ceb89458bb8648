import type { Intent } from '../../model/index.ts'
import { BY } from '../../model/index.ts'

export const TIME_IS_OVER: Intent = { end: 'stopped', by: BY.timeout, reason: 'its time was over (--timeout)' }

/** What a keeper (by the signal that it received) or its timer wants. */
export const intentFor = (why: string): Intent =>
  why === 'TIMEOUT'
    ? TIME_IS_OVER
    : why.startsWith('BUDGET ')
      ? budgetSpent(why)
      : { end: 'stopped', by: `SIG${why}`, reason: `the holdfast command received SIG${why}` }

const budgetSpent = (why: string): Intent => ({ end: 'stopped', by: BY.budget, reason: `its budget was spent (--budget): ${why.slice(7)}` })
