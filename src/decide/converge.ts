import type { Ending, Exit, LiveRun } from '../model/index.ts'
import { intentOf } from '../model/index.ts'
import type { Verdict } from './verdict.ts'

/** What a reconcile does about one run. Only those who may signal do more than `record-end` and `record-exit`. */
export type Step =
  | { readonly kind: 'keep'; readonly why: string }
  | { readonly kind: 'record-end'; readonly ending: Ending }
  | { readonly kind: 'record-exit'; readonly exit: Exit | null }
  | { readonly kind: 'end-tree'; readonly why: 'leftovers' | 'asked' | 'timeout' | 'orphaned' }

/** `ranMs`: how long its agent has run by now, by no clock that anybody can set. `parentEnded`: the run it was started from is over, and it was not started with --independent. */
export function converge(run: LiveRun, verdict: Verdict, about: { ranMs: number; maySignal: boolean; parentEnded: boolean }): Step {
  switch (verdict.kind) {
    case 'over':
      return { kind: 'record-end', ending: verdict.ending }
    case 'leftovers':
      if (about.maySignal) return { kind: 'end-tree', why: 'leftovers' }
      return run.state === 'stopping' ? { kind: 'keep', why: 'its leftovers are being ended' } : { kind: 'record-exit', exit: verdict.exit }
    case 'alive':
    case 'starting':
      if (!about.maySignal) return { kind: 'keep', why: verdict.kind }
      if (intentOf(run) !== null) return { kind: 'end-tree', why: 'asked' }
      if (about.parentEnded) return { kind: 'end-tree', why: 'orphaned' }
      if (run.deadlineAt !== null && about.ranMs >= run.deadlineAt - run.startedAt) return { kind: 'end-tree', why: 'timeout' }
      return { kind: 'keep', why: verdict.kind }
    case 'settling':
    case 'unknown':
      return { kind: 'keep', why: verdict.why }
  }
}
