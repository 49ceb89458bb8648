/** A linked git worktree that we shall make: of which repository, where, and on which branch (made from its HEAD if it is new). */
export type WorktreeRequest = { readonly repository: string; readonly path: string; readonly branch: string; readonly reason: string }

/** What is to be said of a linked worktree before it may be removed. */
export type WorktreeState =
  /** `branch`: the one it is on; null: none. */
  | { readonly kind: 'clean'; readonly branch: string | null }
  /** There is work in it that is nowhere else, or git is in the middle of something. */
  | { readonly kind: 'dirty'; readonly why: string }
  /** Whoever made it died over that: nobody has ever worked in it. */
  | { readonly kind: 'half' }
  | { readonly kind: 'unknown'; readonly why: string }

export interface Worktrees {
  /** Null: made and locked (git's own lock, with the reason). Otherwise why not, in one sentence. What git still lists of ours, and is gone, is forgotten first. */
  add(request: WorktreeRequest): Promise<string | null>
  state(path: string): Promise<WorktreeState>
  /** Null: gone, since it was clean or half made. Otherwise why it stays. A branch of ours that holds nothing of its own goes too. */
  remove(path: string): Promise<string | null>
}

/** Git's own lock on a worktree of ours says so, and for which session; any other lock is somebody's wish that it stays. */
export const WORKTREE_REASON = 'holdfast session '

/** A worktree on its way out is called so: whoever finds one may delete it. */
export const REMOVED_PREFIX = '.removed-'

/** Branches that we made by ourselves begin so. */
export const BRANCH_PREFIX = 'holdfast/'
