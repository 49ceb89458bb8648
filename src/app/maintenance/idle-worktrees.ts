import { basename, join } from 'node:path'
import { isLive, type SessionRecord, type Store } from '../../model/index.ts'
import { iso } from '../../show/index.ts'
import { holdingsOn } from '../lock/judge-locks.ts'
import { removeUnused, whoUses } from '../worktree/remove-worktree.ts'
import { cwdsBelow } from '../worktree/worktree.ts'
import type { World } from '../world/world.ts'
import { type Removable, tried } from './removable.ts'

/**
 * Worktrees of ours: those that are clean, in which nobody works, and in which no conversation can soon be resumed, can go. The others are named.
 * What is known of those that are gone goes with the last session that worked in them.
 */
export async function idleWorktrees(world: World, store: Store): Promise<Removable[]> {
  const paths = world.directories.entries(world.worktreesFolder)
  const known = world.worktreeOrigins.origins().map((name) => join(world.worktreesFolder, name))
  if (paths.length === 0 && known.length === 0) return []
  const { views } = await store.sessions.snapshot('all', world.policy.sessionsShown)
  const workers = cwdsBelow(world)
  const found: Removable[] = []
  for (const path of paths) {
    const why = (await inUse(world, store, path)) ?? workers(path)
    const state = why === null ? await world.worktrees.state(path) : null
    const waits = state?.kind === 'clean' ? resumableIn(world, views, path) : null
    if (waits !== null) found.push({ kind: 'worktree', what: path, why: waits, keep: true })
    else if (state?.kind === 'clean' || state?.kind === 'half')
      found.push({
        kind: 'worktree',
        what: path,
        why: state.kind === 'half' ? 'it was never finished, or its removal was not' : 'it is clean, and nobody works in it',
        keep: false,
        remove: () => removeUnused(world, store, path),
      })
    else found.push({ kind: 'worktree', what: path, why: why ?? (state === null ? '' : state.why), keep: true })
  }
  return [...found, ...known.flatMap((path) => forgotten(world, views, path))]
}

const isIn = (path: string, { session }: SessionRecord): boolean => session.dir === path || session.dir.startsWith(`${path}/`)

/** The session whose conversation can be resumed in it, and until when it stays for that; null: none. */
function resumableIn(world: Pick<World, 'clock' | 'harnesses' | 'policy'>, views: readonly SessionRecord[], path: string): string | null {
  const conversational = new Set(world.harnesses().flatMap(({ name, speech }) => (speech.resume === null ? [] : [name])))
  for (const view of views) {
    const { session, run } = view
    if (!isIn(path, view) || run === null || session.native === null || !conversational.has(session.harness ?? '')) continue
    const until = (isLive(run) ? world.clock.now() : run.endedAt) + world.policy.worktreeResumableMs
    if (until > world.clock.now())
      return `${session.id} can be resumed in it; it stays until ${iso(until)}; holdfast discard ${session.id} removes it now`
  }
  return null
}

/** No session on record would ask for it again. */
function forgotten(world: World, views: readonly SessionRecord[], path: string): Removable[] {
  if (world.directories.exists(path) || views.length >= world.policy.sessionsShown || views.some((view) => isIn(path, view))) return []
  const remove = tried(() => world.worktreeOrigins.forgetOrigin(path))
  return [
    {
      kind: 'files',
      what: `what is known of worktree ${basename(path)}`,
      why: 'it is gone, and no session on record worked in it',
      keep: false,
      remove,
    },
  ]
}

async function inUse(world: World, store: Store, path: string): Promise<string | null> {
  const directory = world.directories.look(path, world.directories.mounts())
  if (directory === null) return 'it cannot be entered'
  const { locks } = await store.locks.all([], null)
  const held = (await holdingsOn(world, store, directory, locks)).find(({ verdict }) => verdict.kind !== 'free')
  return held === undefined ? null : whoUses(held)
}
