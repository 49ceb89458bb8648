import type { FileCursor, Tokens, UsageLine } from '../../model/index.ts'
import { addTokens, highestTokens, tokensBeyond } from '../../model/index.ts'

/** What has counted of a file, and what was burned since it was opened. */
export type Count = FileCursor & { readonly burned: Tokens }

/** Adds a line: each key once, and the cost of the session only as far as it grows. */
export function counted(count: Count, line: UsageLine, remembers: number): Count {
  if (line.kind === 'cost') return withCost(count, line.total)
  if (line.kind === 'copied') return { ...count, after: latest(line.until, count.after) }
  const before = count.recent.find(([key]) => key === line.key)?.[1]
  if (before === undefined && !isNew(count, line.at)) return passedOver(count)
  const tokens = before === undefined ? line.tokens : highestTokens(before, line.tokens)
  return {
    ...count,
    burned: addTokens(count.burned, before === undefined ? tokens : tokensBeyond(tokens, before)),
    last: latest(line.at, count.last),
    recent: line.key === null ? count.recent : remembered(count.recent, line.key, tokens, remembers),
  }
}

const isNew = ({ after, untimed }: Count, at: number): boolean => after === null || (at === 0 ? untimed : at > after)

export const latest = (one: number | null, other: number | null): number | null => (one === null ? other : Math.max(one, other ?? one))

const remembered = (recent: FileCursor['recent'], key: string, tokens: Tokens, remembers: number): FileCursor['recent'] =>
  remembers === 0 ? [] : [...recent.filter(([other]) => other !== key), [key, tokens] as const].slice(-remembers)

/** A copy of what an older session burned: its cost is in what this one will be said to have cost. */
const passedOver = (count: Count): Count => (count.sessionCost === 0 ? { ...count, sessionCost: null } : count)

function withCost(count: Count, total: number): Count {
  const grown = Math.max(0, count.sessionCost === null ? 0 : total - count.sessionCost)
  const cost = grown === 0 ? count.burned.cost : (count.burned.cost ?? 0) + grown
  return { ...count, burned: { ...count.burned, cost }, sessionCost: Math.max(count.sessionCost ?? 0, total) }
}
