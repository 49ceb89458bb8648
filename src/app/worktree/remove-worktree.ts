import { type Holding, worktreeRemoval } from '../../decide/index.ts'
import type { Store, WorktreeContent } from '../../model/index.ts'
import { whileHeld } from '../lock/take-lock.ts'
import type { World } from '../world/world.ts'
import { cwdsBelow, recordOrigin, worktreeAt } from './worktree.ts'

/**
 * `dir`: where the session worked, at or below the top of a worktree of ours. `target`: the branch that its work shall end in, such as `main`
 * or `origin/main`. `base`: the commit that its branch began at, for counting; null: unknown.
 */
export type WorktreeToRemove = { readonly dir: string; readonly target: string; readonly base: string | null }

/** `branch`: the one that it was on; `branchStays`: it holds what is not in the target, or is not ours to delete. */
export type RemovedWorktree =
  | {
      readonly kind: 'removed'
      readonly path: string
      readonly branch: string | null
      readonly branchStays: boolean
      readonly content: WorktreeContent
      readonly why: string
    }
  | { readonly kind: 'kept'; readonly path: string; readonly branch: string | null; readonly content: WorktreeContent | null; readonly why: string }
  /** There is none of ours. */
  | { readonly kind: 'absent'; readonly path: string }

/**
 * Removes the worktree of a session that has ended, if nothing would be lost: it is clean (its branch keeps its commits), or all that lies in it
 * is in the target branch, also after a squash merge. It ends nobody: call `stop` first. A worktree that a live run or a lock still holds,
 * in which any process works, or whose processes cannot all be seen, is kept, and `why` names them. Twice does no harm.
 */
export async function removeWorktree(world: World, store: Store, { dir, target, base }: WorktreeToRemove): Promise<RemovedWorktree> {
  const at = worktreeAt(world, dir)
  if (at === null || !world.directories.exists(at.path)) return { kind: 'absent', path: at?.path ?? dir }
  const { path, branch } = at
  const directory = world.directories.look(path, world.directories.mounts())
  if (directory === null) return { kind: 'kept', path, branch, content: null, why: 'it cannot be entered' }
  // Nobody can start in it from here on until it is gone.
  const held = await whileHeld(world, store, directory, 'it is being removed', async (): Promise<RemovedWorktree> => {
    const [state, content] = [await world.worktrees.state(path), await world.worktrees.content(path, target, base)]
    const decision = worktreeRemoval({ users: cwdsBelow(world)(path), state, content }, target)
    if (decision.kind === 'keep') return { kind: 'kept', path, branch, content, why: decision.why }
    recordOrigin(world, path)
    const stays = await world.worktrees.remove(path, decision.proven === null ? undefined : { seal: decision.proven, target })
    if (stays !== null) return { kind: 'kept', path, branch, content, why: stays }
    const left = branch === null || at.repository === null ? null : await world.worktrees.branchAt(at.repository, branch)
    return { kind: 'removed', path, branch, branchStays: left !== null, content, why: decision.why }
  })
  return 'done' in held ? held.done : { kind: 'kept', path, branch, content: null, why: whoUses(held.inTheWay) }
}

/** Held while it is asked once more and removed: who wants to start there is refused, or was first and is seen. Null: it is gone. */
export async function removeUnused(world: World, store: Store, path: string): Promise<string | null> {
  const directory = world.directories.look(path, world.directories.mounts())
  if (directory === null) return 'it cannot be entered'
  const held = await whileHeld(world, store, directory, 'it is being removed', async () => {
    const users = cwdsBelow(world)(path)
    if (users !== null) return users
    recordOrigin(world, path)
    return world.worktrees.remove(path)
  })
  return 'done' in held ? held.done : whoUses(held.inTheWay)
}

export const whoUses = ({ lock, verdict }: Holding): string =>
  verdict.kind === 'unknown'
    ? `it may be in use by ${lock.session ?? lock.user}: ${verdict.why}`
    : `${lock.session ?? lock.user} ${lock.holder.kind === 'run' ? 'works in it' : `holds it: ${lock.reason}`}`

/** Removes it with whatever lies in it, once that is kept under a ref, if nobody is in it. Null: it is gone. */
export async function discardHeld(world: World, store: Store, path: string, ref: string): Promise<string | null> {
  const directory = world.directories.look(path, world.directories.mounts())
  if (directory === null) return 'it cannot be entered'
  const held = await whileHeld(world, store, directory, 'it is being discarded', async () => {
    const users = cwdsBelow(world)(path)
    if (users !== null) return users
    recordOrigin(world, path)
    const answer = await world.worktrees.discard(path, ref)
    return answer.kind === 'refused' ? answer.why : null
  })
  return 'done' in held ? held.done : whoUses(held.inTheWay)
}
