import { isLive, Problem, type SessionRecord, type Store, type WorktreeContent } from '../../model/index.ts'
import { holdingsOn } from '../lock/judge-locks.ts'
import type { World } from '../world/world.ts'
import { whoUses } from './remove-worktree.ts'
import { worktreeAt } from './worktree.ts'

/** `target`: the branch that the main working tree is on; null: it is on none, or there is no such tree. */
export type OwnWorktree = {
  readonly session: string
  readonly path: string
  readonly branch: string
  readonly repository: string
  readonly target: string | null
  readonly isGone: boolean
}

/** All that lies in it, beside the branch that the main working tree is on. */
export const besideTarget = async (world: Pick<World, 'worktrees'>, path: string, target: string | null): Promise<WorktreeContent> =>
  target === null ? { kind: 'unknown', why: 'its repository has no branch checked out' } : world.worktrees.content(path, target, null)

/** The worktree of a session that is over, on its branch. Refused: it has none, or somebody works there. */
export async function ownWorktree(world: World, store: Store, { session, run }: SessionRecord): Promise<OwnWorktree> {
  const at = worktreeAt(world, session.dir)
  if (at === null)
    throw new Problem('worktree-none', `session ${session.id} did not work in a worktree of Holdfast, but in ${session.dir}`, {
      hint: 'holdfast run --worktree starts a session in one',
    })
  const { path, branch, repository } = at
  if (branch === null || repository === null)
    throw new Problem('worktree-none', `the worktree ${path} is on no branch, or was removed and is not known any more`, {
      hint: `look with: git -C ${path} status`,
    })
  if (run !== null && isLive(run))
    throw new Problem('worktree-in-use', `session ${session.id} works in ${path}`, { hint: `end it first: holdfast stop ${session.id}` })
  const isGone = at.gone === true
  const directory = isGone ? null : world.directories.look(path, world.directories.mounts())
  const { locks } = await store.locks.all([], null)
  const held = directory === null ? undefined : (await holdingsOn(world, store, directory, locks)).find(({ verdict }) => verdict.kind !== 'free')
  if (held !== undefined) throw new Problem('worktree-in-use', `${path}: ${whoUses(held)}`, { hint: 'holdfast locks tells who holds it' })
  return { session: session.id, path, branch, repository, target: world.directories.branch(repository), isGone }
}
