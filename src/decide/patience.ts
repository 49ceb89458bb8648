import type { LiveRun, Policy } from '../model/index.ts'
import { intentOf } from '../model/index.ts'
import type { Seen } from './verdict.ts'

/** What has to be done about a live run. `finish`: it is over, and only has to be recorded. `settle`: its keeper has yet to write how. */
export type Want =
  | { readonly kind: 'finish' | 'settle' }
  | { readonly kind: 'end'; readonly why: 'leftovers' | 'asked' | 'timeout' | 'orphaned' | 'budget' }

/** `forMs`: for how long this very want has been seen. `exitAgeMs`: how old its exit record is; null: there is none. */
export type Since = { readonly forMs: number; readonly exitAgeMs: number | null }

/**
 * How much longer the daemon leaves a run to those who are about to do the same, so that they do and say exactly what they would without
 * it. Zero: nobody is. A keeper, or its finisher, works right after the exit record was written; who asked for an end gives it a grace.
 */
export function patienceMs(want: Want, run: LiveRun, seen: Seen, since: Since, policy: Policy): number {
  const patience = policy.daemonPatienceMs
  const left = (ms: number): number => Math.max(0, ms - since.forMs)
  if (want.kind === 'end') {
    // Time and tokens were counted with patience already.
    if (want.why === 'timeout' || want.why === 'budget') return 0
    const graceMs = graceOf(run, seen, policy)
    if (graceMs !== null) return left(graceMs + policy.killMs + patience)
    if (want.why === 'orphaned') return left(patience)
  }
  // It has written how its agent ended and is still there: it waits for its finisher, and leaves at once should that die.
  if (seen.keeper?.kind === 'alive' && !seen.keeper.frozen && seen.exit !== null) return left(policy.settleMs)
  if (want.kind === 'settle' || seen.keeper?.kind === 'alive' || intentOf(run) !== null) return left(patience)
  // By the clock on the wall, which may have been set: what seems to be of the future is as good as new.
  return since.exitAgeMs === null ? 0 : Math.max(0, patience - Math.max(since.forMs, since.exitAgeMs))
}

/** Somebody asked for its end: what they give it. The command itself, told to end, gives what everybody does. */
const graceOf = (run: LiveRun, { exit }: Seen, { graceMs }: Policy): number | null => {
  const intent = intentOf(run)
  return intent === null && (exit?.told ?? null) === null ? null : (intent?.graceMs ?? graceMs)
}
