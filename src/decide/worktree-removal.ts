import type { WorktreeContent, WorktreeSeal, WorktreeState } from '../model/index.ts'

/** `users`: who is in it or holds it, or why that cannot be told; null: nobody is, and that was seen. */
export type WorktreeFacts = { readonly users: string | null; readonly state: WorktreeState; readonly content: WorktreeContent }

export type WorktreeRemoval =
  /** `proven`: exactly this is in the target, so its branch holds nothing of its own. Null: its branch stays with what it holds. */
  { readonly kind: 'remove'; readonly proven: WorktreeSeal | null; readonly why: string } | { readonly kind: 'keep'; readonly why: string }

/** Whether a worktree may go: only if nobody is in it, and nothing would be lost. Missing proof keeps it. */
export function worktreeRemoval({ users, state, content }: WorktreeFacts, target: string): WorktreeRemoval {
  if (users !== null) return { kind: 'keep', why: users }
  if (state.kind === 'half') return { kind: 'remove', proven: null, why: 'it was never finished' }
  if (state.kind === 'unknown') return { kind: 'keep', why: state.why }
  if (content.kind === 'in-target' && (state.kind === 'clean' || state.content === true)) {
    const how = content.how === 'squashed' ? 'the content of all of it' : 'all of it'
    return { kind: 'remove', proven: content.seal, why: `${how} is in ${target}` }
  }
  if (state.kind === 'dirty') return { kind: 'keep', why: state.why }
  return { kind: 'remove', proven: null, why: 'it is clean' }
}
