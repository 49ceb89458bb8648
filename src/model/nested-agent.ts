import type { Environment } from './environment.ts'
import type { ProcessId } from './identity.ts'

/**
 * An agent that works inside a run and is not the one that the run is about: a review, or whatever its tools started. It is shown as a task while it
 * lives, and is on record as that task after its end. `run` and `session`: the ids of that task.
 */
export type NestedAgent = {
  readonly run: string
  readonly session: string
  readonly harness: string
  readonly process: ProcessId
  /** Cut, where it is long: a prompt may be in it. */
  readonly argv: readonly string[]
  readonly dir: string
  readonly startedAt: number
  /** The process that started it, as it was seen then; null: that one is gone. */
  readonly startedBy: { readonly pid: number; readonly name: string } | null
  /** Where its harness keeps things. */
  readonly env: Environment
}

/** What a look has written down about them. */
export type NestedLine = { readonly nested: NestedAgent } | { readonly nestedOver: string }
