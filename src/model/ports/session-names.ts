import type { SessionRecord } from '../session.ts'

/** A person's word: everything of a session that is over is forgotten, and its name is free. `epoch`: as it was looked at. */
export type ForgetRequest = { readonly session: string; readonly epoch: number; readonly runs: readonly string[] }

/**
 * `lost`: it is no longer as it was looked at. `held`: a directory is still held in its name. `wanted`: this open request of the worker is about it.
 */
export type ForgetAnswer = { readonly kind: 'forgotten' } | { readonly kind: 'lost' | 'held' } | { readonly kind: 'wanted'; readonly request: string }

/** A person's word: the session is called so from now on. `freeOld`: its old name does not find it any more. */
export type RenameRequest = {
  readonly session: string
  readonly epoch: number
  readonly to: string
  readonly freeOld: boolean
  readonly how: string
  readonly at: number
}
/** `moved`: the sessions that have another id by it. `taken`: another session has this name, or had it. */
export type RenameAnswer =
  | { readonly kind: 'renamed'; readonly moved: readonly string[] }
  | { readonly kind: 'taken'; readonly by: SessionRecord }
  | { readonly kind: 'lost' }
