import type { Environment, ReadDatabase, Tokens, UsageCursor, UsageRule } from '../model/index.ts'
import { baselineLines, readLines } from './usage/lines.ts'
import { baselineTotals, readTotals } from './usage/totals.ts'

/** Whose usage: the variables by which its files are found, and its native id. */
type At = { readonly env: Environment; readonly id: string }

/**
 * What a session has burned since its cursor began, and the cursor for the next look; null: there is nothing to read, or it cannot be read,
 * which is not the same as nothing burned. `complete`: false if there was too much for one call, and the next will find more.
 */
export function readUsage(
  rule: UsageRule,
  at: At,
  cursor: UsageCursor | null,
  readDatabase: ReadDatabase,
): { readonly tokens: Tokens; readonly cursor: UsageCursor; readonly complete: boolean } | null {
  if (rule.kind === 'lines') return readLines(rule, at, cursor?.kind === 'lines' ? cursor : null)
  const totals = readTotals(rule, at, cursor?.kind === 'totals' ? cursor : null, readDatabase)
  return totals === null ? null : { ...totals, complete: true }
}

/** Taken before a run begins, so that only what it burns is counted, also on a session that has burned before. */
export const baselineUsage = (rule: UsageRule, at: At, readDatabase: ReadDatabase, now: number = Date.now()): UsageCursor =>
  rule.kind === 'lines' ? baselineLines(rule, at, now) : baselineTotals(rule, at, readDatabase)
