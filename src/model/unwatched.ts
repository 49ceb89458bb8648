/** Why nobody watches what is spent in a run: its keeper or its agent is gone, it is over on record, or its agent has handed back and waits. */
export type UnwatchedWhy = 'keeper-gone' | 'agent-gone' | 'over' | 'idle'

/** What is burned so long after that was still asked for. */
export const UNWATCHED_AFTER_MS: Readonly<Record<UnwatchedWhy, number>> = { 'keeper-gone': 2_000, 'agent-gone': 2_000, over: 2_000, idle: 30_000 }

/** A time in which nobody watches. `since`: from then on. */
export type UnwatchedTime = { readonly why: UnwatchedWhy; readonly since: number }

/** Tokens that were spent in such a time. `task`: the agent inside that spends; null: what is left of the run itself. `tokens`: all of them so far. */
export type UnwatchedSpending = UnwatchedTime & {
  readonly harness: string | null
  readonly pid: number | null
  readonly task: string | null
  readonly tokens: number
}
