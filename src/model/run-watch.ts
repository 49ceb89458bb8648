/** The signs of work that a look at a run shows. Each text is a fingerprint: equal texts mean that nothing changed. */
export type WorkSigns = {
  /** The agent's own signs of life: transcript, log, tokens, processor time of its tree. */
  readonly activity: string
  /** Files of the worktree and commits of its branch. */
  readonly progress: string
  readonly tokens: number | null
  /** The agent waits for an answer, or for its usage limit to pass. */
  readonly waits: boolean
}

/** The time that looks have counted for a run, by a clock that never jumps. */
export type WatchedRun = {
  readonly at: number
  /** Null: the last look could not see them. */
  readonly signs: WorkSigns | null
  readonly idleMs: number
  readonly stillMs: number
  readonly tokensAtProgress: number | null
}

/** Null: no limit. */
export type WatchLimits = { readonly idleMs: number | null; readonly noProgressMs: number | null; readonly noProgressTokens: number | null }

/** How a request of a repository ended. `failure`: the kind of its failure; null: it did not fail. */
export type FailureRecord = { readonly at: number; readonly failure: string | null }
