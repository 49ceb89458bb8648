import type { RunEnd } from '../../act/index.ts'
import type { LiveRun, ProcessId, RunBase } from '../../model/index.ts'

export type Started =
  | {
      readonly kind: 'running'
      readonly run: RunBase
      readonly harness: ProcessId
      readonly retired: readonly RunEnd[]
      readonly notes: readonly string[]
    }
  /** The shell that called us becomes the keeper. */
  | { readonly kind: 'handed-over'; readonly run: RunBase; readonly retired: readonly RunEnd[]; readonly notes: readonly string[] }
  | { readonly kind: 'attach'; readonly run: LiveRun }

/** A run that was claimed, and goes on. */
export type Begun = Exclude<Started, { kind: 'attach' }>
