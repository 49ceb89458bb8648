/** What became of a harness's hooks when they were asked for, or no longer wanted. */
export type HookChange = {
  readonly harness: string
  readonly path: string
  readonly did: 'installed' | 'replaced' | 'removed' | 'nothing'
  /** What the harness calls the events that it has (or had) hooks for; none where a file of our own is all there is. */
  readonly events: readonly string[]
  readonly note: string | null
}

/** `other`: hooks of another Holdfast, or of where this one was before. `unreadable`: nobody can tell, and `trouble` says why. */
export type HookState = {
  readonly harness: string
  readonly path: string
  readonly state: 'installed' | 'other' | 'absent' | 'unreadable'
  readonly trouble: string | null
  readonly note: string | null
}
