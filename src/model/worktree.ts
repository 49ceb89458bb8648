/** A linked git worktree that we shall make: of which repository, where, and on which branch (made from its HEAD if it is new). */
export type WorktreeRequest = { readonly repository: string; readonly path: string; readonly branch: string; readonly reason: string }

/** What is to be said of a linked worktree before it may be removed. */
export type WorktreeState =
  /** `branch`: the one it is on; null: none. */
  | { readonly kind: 'clean'; readonly branch: string | null }
  /** There is work in it that is nowhere else, or git is in the middle of something. `content`: only files are, which can be compared. */
  | { readonly kind: 'dirty'; readonly why: string; readonly content?: true }
  /** Whoever made it died over that: nobody has ever worked in it. */
  | { readonly kind: 'half' }
  | { readonly kind: 'unknown'; readonly why: string }

/** Exactly what lay in a worktree: its branch, the commit it is on, and the tree of all its files that git does not ignore. */
export type WorktreeSeal = { readonly branch: string | null; readonly head: string; readonly tree: string }

type Compared = { readonly seal: WorktreeSeal; readonly commits: number; readonly files: number }
/** How all that lies in a worktree stands to a target branch. `commits`, `files`: since its base, or since both parted. */
export type WorktreeContent =
  /** The history of the target holds all of it: its commits, or (`squashed`) their content. */
  | ({ readonly kind: 'in-target'; readonly how: 'merged' | 'squashed' } & Compared)
  | ({ readonly kind: 'ahead' } & Compared)
  | { readonly kind: 'unknown'; readonly why: string }

/** `commit`: the one that a working tree is at; null: its branch has none yet. */
export type HeadLook = { readonly kind: 'seen'; readonly commit: string | null } | { readonly kind: 'unknown'; readonly why: string }

/** `repository`: the working tree into whose branch (`into`) a commit is merged. */
export type MergeRequest = { readonly repository: string; readonly into: string; readonly commit: string; readonly message: string }
export type MergeAnswer =
  | { readonly kind: 'merged'; readonly how: 'fast-forward' | 'merge-commit'; readonly commits: number; readonly files: number }
  /** It holds the commit already. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'conflicting' }
  /** Changes lie there that nobody committed. */
  | { readonly kind: 'unsaved'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string }

export type DiscardAnswer = { readonly kind: 'discarded'; readonly branch: string | null } | { readonly kind: 'refused'; readonly why: string }

export interface Worktrees {
  /** Writes nothing, and runs nothing of the repository's. `path`: the top of a working tree. */
  head(path: string): Promise<HeadLook>
  /** Null: made and locked (git's own lock, with the reason). Otherwise why not, in one sentence. What git still lists of ours, and is gone, is forgotten first. */
  add(request: WorktreeRequest): Promise<string | null>
  state(path: string): Promise<WorktreeState>
  /** Compares all its files and commits with a branch of the repository, by content. Writes nothing into the repository. */
  content(path: string, target: string, base: string | null): Promise<WorktreeContent>
  /** Merges as the person would, hooks included, or changes nothing at all. */
  merge(request: MergeRequest): Promise<MergeAnswer>
  /** Removes a worktree, whatever lies in it, once all of that is kept in a commit under `ref`. A branch of ours goes too. */
  discard(path: string, ref: string): Promise<DiscardAnswer>
  /** The commit of a branch of the repository; null: it has none of that name, or cannot be asked. */
  branchAt(repository: string, branch: string): Promise<string | null>
  /**
   * Null: gone, since it was clean or half made. Otherwise why it stays. A branch of ours that holds nothing of its own goes too. `proven`: the
   * target of a comparison holds exactly this, so files like these may go as well, and so may a branch of ours at that commit.
   */
  remove(path: string, proven?: { readonly seal: WorktreeSeal; readonly target: string }): Promise<string | null>
}

/** Where a worktree of ours came from: enough to make it again when it is gone. `repository`: its main working tree, or a bare one. */
export type WorktreeOrigin = { readonly path: string; readonly repository: string; readonly branch: string }

/** What is known of worktrees of ours, also of those that are gone. */
export interface WorktreeOrigins {
  origin(path: string): WorktreeOrigin | null
  recordOrigin(origin: WorktreeOrigin): void
  /** The names of the worktrees that something is known of. */
  origins(): string[]
  forgetOrigin(path: string): void
}

/** Git's own lock on a worktree of ours says so, and for which session; any other lock is somebody's wish that it stays. */
export const WORKTREE_REASON = 'holdfast session '

/** A worktree on its way out is called so: whoever finds one may delete it. */
export const REMOVED_PREFIX = '.removed-'

/** Branches that we made by ourselves begin so. */
export const BRANCH_PREFIX = 'holdfast/'
