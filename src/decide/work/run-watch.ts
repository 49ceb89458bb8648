import type { WatchedRun, WatchLimits, WorkSigns } from '../../model/index.ts'

/** The outcome of a look at a request's run. `counted` is kept for the next look. */
export type WatchVerdict = { readonly counted: WatchedRun; readonly end: { readonly reason: 'idle' | 'no-progress'; readonly why: string } | null }

/** Steps longer than this are no proof of silence: the worker was frozen, was not there, or its clock jumped. */
export const MAX_STEP_MS = 60_000

/**
 * Adds up the time in which looks saw a run do nothing, or be busy without a change of its files and commits. Only the time between two looks
 * counts, each with all signs seen, and only if it is short. So no freeze and no clock can make an agent look idle.
 */
export function watchRun(before: WatchedRun | null, signs: WorkSigns | null, now: number, limits: WatchLimits): WatchVerdict {
  const fresh = { at: now, signs, idleMs: 0, stillMs: 0, tokensAtProgress: signs?.tokens ?? null }
  if (before === null) return { counted: fresh, end: null }
  // A sign that could not be seen neither proves silence nor ends it.
  if (signs === null || before.signs === null) return { counted: { ...before, at: now, signs: signs ?? null }, end: null }
  const step = now - before.at
  const counts = step >= 0 && step <= MAX_STEP_MS
  const isSilent = signs.activity === before.signs.activity && signs.progress === before.signs.progress
  const isStill = signs.progress === before.signs.progress
  const counted: WatchedRun = {
    at: now,
    signs,
    idleMs: isSilent ? before.idleMs + (counts ? step : 0) : 0,
    stillMs: isStill ? before.stillMs + (counts ? step : 0) : 0,
    tokensAtProgress: isStill ? (before.tokensAtProgress ?? signs.tokens) : signs.tokens,
  }
  return { counted, end: counts ? endOf(counted, limits) : null }
}

function endOf({ idleMs, stillMs, signs, tokensAtProgress }: WatchedRun, limits: WatchLimits): WatchVerdict['end'] {
  // A person or another program has to answer first: neither silence nor standstill is the agent's.
  if (signs?.waits === true) return null
  if (limits.idleMs !== null && idleMs >= limits.idleMs)
    return { reason: 'idle', why: `the agent wrote nothing and changed nothing for ${minutes(idleMs)}` }
  if (limits.noProgressMs !== null && stillMs >= limits.noProgressMs)
    return { reason: 'no-progress', why: `the agent was busy for ${minutes(stillMs)} and changed no file and made no commit` }
  const tokens = signs?.tokens ?? null
  const spent = tokens === null || tokensAtProgress === null ? 0 : tokens - tokensAtProgress
  if (limits.noProgressTokens !== null && spent >= limits.noProgressTokens)
    return { reason: 'no-progress', why: `the agent used ${spent} tokens and changed no file and made no commit` }
  return null
}

const minutes = (ms: number): string => (ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`)
