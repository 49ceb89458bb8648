import type { Run, WorktreeContent } from '../../model/index.ts'
import { besideTarget } from '../worktree/of-session.ts'
import { worktreeAt } from '../worktree/worktree.ts'
import type { World } from '../world/world.ts'

/** What the session of an ended run left in its worktree. `unsaved`: how many files nobody committed; null: unknown. */
export type LeftInWorktree = {
  readonly session: string
  readonly branch: string
  readonly target: string | null
  readonly content: WorktreeContent
  readonly unsaved: number | null
}

/** Null: it did not work in a worktree of ours, or that is on no branch or gone. */
export async function leftInWorktree(world: World, { session, dir }: Run): Promise<LeftInWorktree | null> {
  const at = worktreeAt(world, dir)
  if (at === null || at.gone === true || at.branch === null || at.repository === null) return null
  const target = world.directories.branch(at.repository)
  const unsaved = (await world.branches.changes(at.path))?.length ?? null
  return { session, branch: at.branch, target, unsaved, content: await besideTarget(world, at.path, target) }
}
