import { isOpen, Problem, type Store, type WorkRequest } from '../../model/index.ts'
import { iso } from '../../show/index.ts'
import { removeWorktree } from '../worktree/remove-worktree.ts'
import type { World } from '../world/world.ts'

/** An end is final, through every door. */
export function refuseOver(request: WorkRequest): void {
  if (!isOpen(request)) throw overProblem(request)
}

export const overProblem = ({ id, state, reason, summary, endedAt }: WorkRequest): Problem =>
  new Problem('request-over', `${id} is ${state} (${reason}) since ${iso(endedAt)}, and that is final: ${summary}`, {
    hint: `holdfast work retry ${id} goes on with it; holdfast work rerun ${id} begins anew`,
    detail: { request: id, state, reason },
  })

/**
 * The worktree of a request that ends goes if nothing would be lost. Null: there is nothing to tell; otherwise why it stays. One that cannot be
 * removed never holds up the end.
 */
export async function tidyWorktree(world: World, store: Store, { dir, base, order }: WorkRequest): Promise<string | null> {
  if (dir === null) return null
  const kept = (path: string, why: string): string => `its worktree ${path} stays: ${why}`
  try {
    const removed = await removeWorktree(world, store, { dir, target: world.directories.branch(order.repo) ?? 'HEAD', base })
    return removed.kind === 'kept' ? kept(removed.path, removed.why) : null
  } catch (error) {
    return kept(dir, error instanceof Error ? error.message : String(error))
  }
}
