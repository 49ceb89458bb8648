import type { Store } from '../../model/index.ts'
import { holdingsOn } from '../lock/judge-locks.ts'
import { removeUnused, whoUses } from '../worktree/remove-worktree.ts'
import { cwdsBelow } from '../worktree/worktree.ts'
import type { World } from '../world/world.ts'
import type { Removable } from './removable.ts'

/** Worktrees of ours: those that are clean, and in which nobody works, can go; the others are named. */
export async function idleWorktrees(world: World, store: Store): Promise<Removable[]> {
  const paths = world.directories.entries(world.worktreesFolder)
  if (paths.length === 0) return []
  const workers = cwdsBelow(world)
  const found: Removable[] = []
  for (const path of paths) {
    const why = (await inUse(world, store, path)) ?? workers(path)
    const state = why === null ? await world.worktrees.state(path) : null
    if (state?.kind === 'clean' || state?.kind === 'half')
      found.push({
        kind: 'worktree',
        what: path,
        why: state.kind === 'half' ? 'it was never finished, or its removal was not' : 'it is clean, and nobody works in it',
        keep: false,
        remove: () => removeUnused(world, store, path),
      })
    else found.push({ kind: 'worktree', what: path, why: why ?? (state === null ? '' : state.why), keep: true })
  }
  return found
}

async function inUse(world: World, store: Store, path: string): Promise<string | null> {
  const directory = world.directories.look(path, world.directories.mounts())
  if (directory === null) return 'it cannot be entered'
  const { locks } = await store.locks.all([], null)
  const held = (await holdingsOn(world, store, directory, locks)).find(({ verdict }) => verdict.kind !== 'free')
  return held === undefined ? null : whoUses(held)
}
