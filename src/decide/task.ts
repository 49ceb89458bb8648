import type { EndState, Intent, Run } from '../model/index.ts'
import { intentOf, isLive } from '../model/index.ts'

export type Fate = { readonly kind: 'leave' } | { readonly kind: 'end'; readonly as: Intent['end'] }

/**
 * What becomes of a run that was started in another, when that one ends. A task ends with its parent; at a takeover it is superseded, or
 * waits to be adopted by the next run. Any other run just ends with its parent. `direct`: the parent itself was taken over, and did not only
 * end with its own parent: nobody comes to adopt what was started in it then.
 */
export function whatBecomesOf(child: Run, parent: Run, intent: Intent | null, direct: boolean): Fate {
  if (child.task === null || !isTakenOver(parent, intent)) return { kind: 'end', as: 'stopped' }
  return child.task === 'adopt' && direct ? { kind: 'leave' } : { kind: 'end', as: 'superseded' }
}

const isTakenOver = (parent: Run, intent: Intent | null): boolean =>
  (isLive(parent) ? (intentOf(parent) ?? intent)?.end : parent.state) === 'superseded'

/** Whether it was left behind: its parent is over, and nobody comes to adopt it any more. */
export function isOrphan(run: Run, parent: { readonly state: EndState; readonly endedAt: number } | null, now: number, patienceMs: number): boolean {
  if (parent === null || run.independent) return false
  return !(run.task === 'adopt' && parent.state === 'superseded' && now - parent.endedAt < patienceMs)
}
