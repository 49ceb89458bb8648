import type { Environment, ReadDatabase, Tokens, UsageCursor, UsageRule } from '../../model/index.ts'
import { baselineLines, glanceLines, linesSince, readLines } from './lines.ts'
import { baselineTotals, freshTotals, glanceTotals, readTotals } from './totals.ts'

/** Whose usage: the variables by which its files are found, and its native id. */
type At = { readonly env: Environment; readonly id: string }

/** `complete`: false if there was too much for one call, so that the next will find more, or if not all of its files were looked for. */
export type UsageRead = { readonly tokens: Tokens; readonly cursor: UsageCursor; readonly complete: boolean }

/**
 * What a session has burned since its cursor began, and the cursor for the next look; null: there is nothing to read, or it cannot be read,
 * which is not the same as nothing burned.
 */
export function readUsage(rule: UsageRule, at: At, cursor: UsageCursor | null, readDatabase: ReadDatabase): UsageRead | null {
  if (rule.kind === 'lines') return readLines(rule, at, cursor?.kind === 'lines' ? cursor : null)
  const totals = readTotals(rule, at, cursor?.kind === 'totals' ? cursor : null, readDatabase)
  return totals === null ? null : { ...totals, complete: true }
}

/** So many calls read all of a conversation, unless it is over a gigabyte. */
const MAX_READS = 16

/** The same until there is nothing more to read. */
export function readUsageWhole(rule: UsageRule, at: At, cursor: UsageCursor | null, readDatabase: ReadDatabase): UsageRead | null {
  let read = readUsage(rule, at, cursor, readDatabase)
  for (let reads = 1; read?.complete === false && reads < MAX_READS; reads += 1) read = readUsage(rule, at, read.cursor, readDatabase) ?? read
  return read
}

/** What can be told with next to no reading: what is known is looked at, and of that only what is new, up to a bound. */
export function glanceUsage(rule: UsageRule, at: At, cursor: UsageCursor | null, readDatabase: ReadDatabase): UsageRead | null {
  if (rule.kind === 'lines') return glanceLines(rule, at, cursor?.kind === 'lines' ? cursor : null)
  const totals = glanceTotals(rule, at, cursor?.kind === 'totals' ? cursor : null, readDatabase)
  return totals === null ? null : { ...totals, complete: true }
}

/** Taken before a run begins, so that only what it burns is counted, also on a session that has burned before. */
export const baselineUsage = (rule: UsageRule, at: At, readDatabase: ReadDatabase, now: number = Date.now()): UsageCursor =>
  rule.kind === 'lines' ? baselineLines(rule, at, now) : baselineTotals(rule, at, readDatabase)

/** For a session that began then: all of it counts, but for copies of what is older. */
export const usageSince = (rule: UsageRule, since: number): UsageCursor => (rule.kind === 'lines' ? linesSince(since) : freshTotals())
