/** What a branch holds beyond the commit that it began at. `remote`: where it may be pushed to; null: the repository has none. */
export type BranchLook =
  | { readonly kind: 'seen'; readonly head: string; readonly commits: number; readonly remote: string | null }
  | { readonly kind: 'unknown'; readonly why: string }

/** Branches of a repository, by the top of its working tree. */
export interface Branches {
  /** Where a branch began: the newest commit that it shares with what is checked out there. */
  base(repository: string, branch: string): Promise<{ readonly commit: string } | { readonly why: string }>
  look(repository: string, branch: string, base: string): Promise<BranchLook>
  /** A fingerprint of a worktree's commits and changed files; null: they cannot be seen. */
  progress(worktree: string): Promise<string | null>
  /** Files of a worktree that differ from its last commit; null: they cannot be seen. */
  changes(worktree: string): Promise<readonly string[] | null>
  /** Null: the remote has it. Otherwise the reason. Never forced. */
  push(repository: string, remote: string, branch: string): Promise<string | null>
}
