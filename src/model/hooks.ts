/** What became of a harness's hooks when they were asked for, or no longer wanted. */
export type HookChange = {
  readonly harness: string
  readonly path: string
  /** `updated`: some of them were there, and stayed where they were; only those that `events` names are new. */
  readonly did: 'installed' | 'updated' | 'replaced' | 'removed' | 'nothing'
  /** What the harness calls the events that it has (or had) hooks for; none where a file of our own is all there is. */
  readonly events: readonly string[]
  readonly note: string | null
}

/**
 * `outdated`: of this Holdfast, but from before it had all of its hooks. `other`: of another one, or of where this one was before.
 * `unreadable`: nobody can tell, and `trouble` says why.
 */
export type HookState = {
  readonly harness: string
  readonly path: string
  readonly state: 'installed' | 'outdated' | 'other' | 'absent' | 'unreadable'
  readonly trouble: string | null
  readonly note: string | null
  /** Has a person trusted them, where the harness asks for that? Null: it does not ask, or there is nothing to trust. */
  readonly trusted: boolean | null
}
