import { relationOf, shareRepository, standingOf } from '../../decide/index.ts'
import type { Directory, Lock, Mount, Run, RunPlace } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { touching } from '../lock/judge-locks.ts'
import { currentDirectory } from '../world/working-directory.ts'
import type { World } from '../world/world.ts'

/** A session by where it works; null: the caller, who is in none. */
type Where = { readonly run: Run | null; readonly dir: string }

/**
 * Tells of any run whether it works in the same directory tree, or in the same repository. What a run holds tells where it is, even if that
 * was renamed since.
 */
export function nearTo(
  world: Pick<World, 'directories' | 'own' | 'processes' | 'evidence'>,
  asker: Where | null,
  locks: readonly Lock[],
): (other: { readonly run: Run }) => boolean {
  const mounts = world.directories.mounts()
  const ofRuns = locks.filter(({ holder }) => holder.kind === 'run')
  const held = new Map(ofRuns.map((lock) => [lock.run, lock.directory]))
  const directory = placeOf(world, asker, held, mounts)
  const touched = new Set(touching(world, directory, ofRuns, mounts).map(({ lock }) => lock.run))
  return ({ run }) => {
    if (touched.has(run.id)) return true
    const known = held.get(run.id)
    if (known !== undefined && (known.repository !== null || directory.repository === null)) return shareRepository(directory, known)
    // It may have become a repository since it was held; and one that holds nothing is known by its path alone.
    const there = world.directories.look(run.dir, mounts)
    return there !== null && (shareRepository(directory, there) || (known === undefined && relationOf(directory, standingOf(there)) !== null))
  }
}

/**
 * The runs that may work where this one does: those beside it on record, and those of which the record may be out of date. Too many rather than
 * too few, at one stat for each.
 */
export function mayBeNear({ directories }: Pick<World, 'directories'>, self: Run, places: readonly RunPlace[]): string[] {
  const others = places.filter(({ run }) => run !== self.id)
  if (others.length === 0) return []
  const mounts = directories.mounts()
  const directory = directories.look(self.dir, mounts)
  const mayBeRepository = directories.repositoryScout()
  const isMeant = ({ held }: RunPlace): boolean => {
    if (directory === null || held === null || held.above.length === 0 || directories.keyAt(held.path) !== held.key) return true
    if (
      relationOf(directory, standingOf({ ...held, below: directories.mountedBelow(held.path, mounts) })) !== null ||
      shareRepository(directory, held)
    )
      return true
    return held.repository === null && directory.repository !== null && mayBeRepository(held.path)
  }
  return others.filter(isMeant).map(({ run }) => run)
}

/** Where the asker works: as it is now, or as it was held if it is not there any more. */
function placeOf(
  world: Pick<World, 'directories' | 'own'>,
  asker: Where | null,
  held: ReadonlyMap<string | null, Directory>,
  mounts: readonly Mount[],
): Directory {
  if (asker === null) return world.directories.find(currentDirectory(world, 'go to one that does'), mounts)
  const path = asker.run?.dir ?? asker.dir
  const place = world.directories.look(path, mounts) ?? held.get(asker.run?.id ?? null)
  if (place === undefined) throw new Problem('directory-missing', `${path}, where the session works, no longer exists`, { hint: 'leave --here out' })
  return place
}
