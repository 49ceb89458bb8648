import { Problem, type WorktreeContent } from '../../model/index.ts'
import { findSeen } from '../see/find-seen.ts'
import { besideTarget, type OwnWorktree, ownWorktree } from '../worktree/of-session.ts'
import { discardHeld } from '../worktree/remove-worktree.ts'
import type { World } from '../world/world.ts'

/** What would go, for the question before it. */
export type ToDiscard = OwnWorktree & { readonly content: WorktreeContent }
/** `ref`: all of it is kept there. `branchStays`: it was not made by us. */
export type Discarded = ToDiscard & { readonly ref: string; readonly branchStays: boolean }

export async function toDiscard(world: World, reference: string): Promise<ToDiscard> {
  const store = await world.store('writer')
  const own = await ownWorktree(world, store, await findSeen(world, reference, 'near'))
  if (own.isGone)
    throw new Problem('worktree-none', `the worktree of session ${own.session} is gone already; it was on branch ${own.branch}`, {
      hint: `refs that were kept: git -C ${own.repository} for-each-ref refs/holdfast refs/heads`,
    })
  return { ...own, content: await besideTarget(world, own.path, own.target) }
}

/** Removes the worktree of an ended session with whatever lies in it, and a branch of ours. All of it is kept under a ref. */
export async function discardWorktree(world: World, asked: ToDiscard): Promise<Discarded> {
  const { session, path, branch, repository } = asked
  const stamp = new Date(world.clock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const ref = `refs/holdfast/discarded/${session.replaceAll(/[^A-Za-z0-9-]+/g, '-')}/${stamp}`
  const trouble = await discardHeld(world, await world.store('writer'), path, ref)
  if (trouble !== null)
    throw new Problem('worktree-kept', `${path} stays: ${trouble}`, { hint: `see to it, then again: holdfast discard ${session}` })
  return { ...asked, ref, branchStays: (await world.worktrees.branchAt(repository, branch)) !== null }
}
