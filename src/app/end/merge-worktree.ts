import type { MergeAnswer, Store } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { ancestorsOf, parentRun } from '../caller/caller.ts'
import { hold } from '../lock/take-lock.ts'
import { findSeen } from '../see/find-seen.ts'
import { type OwnWorktree, ownWorktree } from '../worktree/of-session.ts'
import { whoUses } from '../worktree/remove-worktree.ts'
import type { World } from '../world/world.ts'

export type Merged = OwnWorktree & { readonly target: string; readonly answer: Extract<MergeAnswer, { readonly kind: 'merged' | 'nothing' }> }

/** Brings the branch of an ended session into the branch that the main working tree is on. Whatever is refused has changed nothing. */
export async function mergeWorktree(world: World, reference: string): Promise<Merged> {
  const store = await world.store('writer')
  const own = await ownWorktree(world, store, await findSeen(world, reference, 'near'))
  const { session, path, branch, repository, target } = own
  const byHand = `git -C ${repository} merge ${branch}`
  if (target === null)
    throw new Problem('merge-refused', `${repository} has no branch checked out that ${branch} could go into`, {
      hint: `check one out, then: ${byHand}`,
    })
  const commit = await world.worktrees.branchAt(repository, branch)
  if (commit === null)
    throw new Problem('worktree-none', `${repository} has no branch ${branch} any more`, { hint: `git -C ${repository} branch --all` })
  await refuseUnsaved(world, own)
  const answer = await inTarget(world, store, own, byHand, () =>
    world.worktrees.merge({ repository, into: target, commit, message: `Merge branch '${branch}' of Holdfast session ${session}` }),
  )
  if (answer.kind === 'merged' || answer.kind === 'nothing') return { ...own, target, answer }
  if (answer.kind === 'unsaved')
    throw new Problem('worktree-unsaved', `${repository} cannot take ${branch}: ${answer.why}`, {
      hint: `commit or stash them: git -C ${repository} status`,
    })
  throw new Problem(
    'merge-refused',
    answer.kind === 'conflicting'
      ? `${branch} and ${target} changed the same lines; nothing was merged`
      : `git did not merge ${branch} into ${target}: ${answer.why}`,
    {
      hint: answer.kind === 'conflicting' ? `have the agent merge ${target} into its branch: holdfast resume ${session}; or: ${byHand}` : byHand,
      detail: { path },
    },
  )
}

/** What is not committed would be left behind in silence. */
async function refuseUnsaved(world: World, { session, path, isGone }: OwnWorktree): Promise<void> {
  const changes = isGone ? [] : await world.branches.changes(path)
  if (changes !== null && changes.length === 0) return
  const what = changes === null ? 'cannot be looked at' : `has ${changes.length} ${changes.length === 1 ? 'file' : 'files'} that nobody committed`
  const named = changes === null ? '' : `: ${changes.slice(0, 3).join(', ')}${changes.length > 3 ? ', …' : ''}`
  throw new Problem('worktree-unsaved', `the worktree ${path} ${what}${named}`, {
    hint: `commit them there, or have the agent do it: holdfast resume ${session}`,
  })
}

/** Held meanwhile: no session works among files that change. Those that we were started from asked for it. */
async function inTarget<T>(world: World, store: Store, { repository }: OwnWorktree, byHand: string, body: () => Promise<T>): Promise<T> {
  const { pid, ticks } = world.processes.self()
  const parent = await parentRun(world)
  const holder = { kind: 'process', by: { pid, ticks }, name: 'holdfast', limit: null } as const
  const wanted = { directory: world.directories.find(repository), holder, reason: 'a branch is being merged', parent }
  const taken = await hold(world, store, { ...wanted, around: await ancestorsOf(world, parent) })
  if ('relation' in taken)
    throw new Problem('worktree-in-use', `${repository}: ${whoUses(taken)}`, { hint: `wait until it is over, or merge beside it: ${byHand}` })
  try {
    return await body()
  } finally {
    await store.locks.free(taken, null, world.clock.now())
  }
}
