import { basename, join, relative } from 'node:path'
import { areWorktrees } from '../../decide/index.ts'
import type { Directory, Store, WorktreeOrigin } from '../../model/index.ts'
import { BRANCH_PREFIX, isDead, Problem, WORKTREE_REASON } from '../../model/index.ts'
import type { WorktreeView } from '../../show/index.ts'
import { pidOf } from '../lock/judge-locks.ts'
import { whileHeld } from '../lock/take-lock.ts'
import type { World } from '../world/world.ts'

/** `dir`: where to work in it, the same folder as it was asked from. */
export type MadeWorktree = { readonly path: string; readonly dir: string; readonly made: boolean }

/** How many places are tried for worktrees whose names would be the same. */
const PLACES = 100

/** A working tree of its own, of the repository that `around` lies in: the one that we have for that branch, or a new one. */
export async function worktreeFor(world: World, store: Store, around: Directory, wanted: string, session: string): Promise<MadeWorktree> {
  const { branch, stem } = namesFor(around, wanted, session)
  // Of those who want the same one, each finds it whole or not at all.
  return oneAtATime(world, store, join(world.worktreesFolder, stem), () => findOrMake(world, around, branch, stem, session))
}

function namesFor(around: Directory, wanted: string, session: string): { readonly branch: string; readonly stem: string } {
  const branch = wanted === '' ? `${BRANCH_PREFIX}${session}` : wanted
  const stem = `${basename(around.repository?.root ?? around.path)}-${branch}`.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 100)
  return { branch, stem }
}

/** The directory that `worktreeFor` will answer, as far as it can be told without making it. A directory that is not there yet is held by no lock. */
export function expectedWorktree(
  world: Pick<World, 'directories' | 'worktreesFolder'>,
  around: Directory,
  wanted: string,
  session: string,
): Directory {
  const { branch, stem } = namesFor(around, wanted, session)
  let path = join(world.worktreesFolder, stem)
  for (let place = 2; place <= PLACES && world.directories.exists(path); place++) {
    const there = isFor(world, path, around, branch) ? world.directories.look(sameFolder(world, path, around), world.directories.mounts()) : null
    if (there !== null) return there
    path = join(world.worktreesFolder, `${stem}-${place}`)
  }
  return unmadeAt(path)
}

/** A directory that is not there yet. */
export const unmadeAt = (path: string): Directory => ({
  path,
  key: `unmade:${path}`,
  inner: `unmade@${path}`,
  above: [],
  below: [],
  repository: null,
})

/** Of a worktree of ours that is gone: how it can be made again. Null: it is there, or nobody knows how. */
export function goneWorktree(world: Places, dir: string): WorktreeOrigin | null {
  const path = topOf(world, dir)
  const origin = path === null || world.directories.exists(path) ? null : world.worktreeOrigins.origin(path)
  return origin !== null && world.directories.exists(origin.repository) ? origin : null
}

/** The same worktree again, on its branch. `dir`: where it was worked in. */
export async function remakeWorktree(world: World, store: Store, origin: WorktreeOrigin, dir: string, session: string): Promise<MadeWorktree> {
  const { path, repository, branch } = origin
  return oneAtATime(world, store, path, async () => {
    if (world.directories.exists(path) && (await isHalfMade(world, path))) await mend(world, path)
    const isThere = world.directories.exists(path)
    const trouble = isThere ? null : await world.worktrees.add({ repository, path, branch, reason: `${WORKTREE_REASON}${session}` })
    if (trouble !== null)
      throw new Problem('worktree-not-made', `the worktree ${path} was removed, and cannot be made again: ${trouble}`, {
        hint: `see to branch ${branch} in ${repository}, or go on elsewhere: holdfast resume ${session} --dir DIRECTORY`,
      })
    return { path, dir: world.directories.exists(dir) ? dir : path, made: !isThere }
  })
}

/** A place that may not be there yet is held by its name alone; who finds it held waits for it. */
async function oneAtATime<T>(world: World, store: Store, path: string, body: () => Promise<T>): Promise<T> {
  const place: Directory = { path, key: `place:${path}`, inner: `place@${path}`, above: [], below: [], repository: null }
  const until = world.clock.elapsed() + world.policy.worktreeMs
  for (;;) {
    const held = await whileHeld(world, store, place, 'a worktree is being made', body)
    if ('done' in held) return held.done
    if (world.clock.elapsed() >= until)
      throw new Problem('worktree-unfinished', `${path} is being made by pid ${pidOf(held.inTheWay) ?? '?'}, and is not ready`, { hint: 'try again' })
    await world.clock.sleep(world.policy.pollMaxMs)
  }
}

async function findOrMake(
  world: Pick<World, 'clock' | 'directories' | 'policy' | 'processes' | 'worktreeOrigins' | 'worktrees' | 'worktreesFolder'>,
  around: Directory,
  branch: string,
  stem: string,
  session: string,
): Promise<MadeWorktree> {
  const repository = around.repository?.root ?? around.path
  for (let place = 1; place <= PLACES; place++) {
    const path = join(world.worktreesFolder, place === 1 ? stem : `${stem}-${place}`)
    if (world.directories.exists(path) && (await isHalfMade(world, path))) await mend(world, path)
    if (world.directories.exists(path)) {
      if (isFor(world, path, around, branch)) return { path, dir: sameFolder(world, path, around), made: false }
      continue
    }
    const trouble = await world.worktrees.add({ repository, path, branch, reason: `${WORKTREE_REASON}${session}` })
    if (trouble !== null)
      throw new Problem('worktree-not-made', `no worktree of ${repository} could be made: ${trouble}`, {
        hint: 'name another branch: --worktree=BRANCH',
      })
    recordOrigin(world, path)
    return { path, dir: sameFolder(world, path, around), made: true }
  }
  throw new Problem('worktree-names-used-up', `there are ${PLACES} worktrees named ${stem} already`, {
    hint: 'holdfast prune removes those that are clean and unused',
  })
}

/** We hold its place, so whoever began it is gone; git itself may still be at it. */
const isHalfMade = async (world: Pick<World, 'worktrees'>, path: string): Promise<boolean> => (await world.worktrees.state(path)).kind === 'half'

async function mend(world: Pick<World, 'clock' | 'policy' | 'processes' | 'worktrees'>, path: string): Promise<void> {
  const until = world.clock.elapsed() + world.policy.worktreeMs
  while (cwdsBelow(world)(path) !== null) {
    if (world.clock.elapsed() >= until)
      throw new Problem('worktree-unfinished', `${path} was left half made, and is still written to`, { hint: 'try again' })
    await world.clock.sleep(world.policy.pollMaxMs)
    if (!(await isHalfMade(world, path))) return
  }
  await world.worktrees.remove(path)
}

/** Below the top of a large repository one works in a part of it; a folder that is not committed is not there. */
function sameFolder({ directories }: Pick<World, 'directories'>, path: string, around: Directory): string {
  const dir = join(path, relative(around.repository?.root ?? around.path, around.path))
  return directories.exists(dir) ? dir : path
}

/** Another worktree of the same repository, on that branch. */
function isFor(world: Pick<World, 'directories'>, path: string, around: Directory, branch: string): boolean {
  const there = world.directories.look(path, world.directories.mounts())
  return (
    there !== null && world.directories.branch(path) === branch && (areWorktrees(there, around) || there.repository?.top === around.repository?.top)
  )
}

/** What is to be told of a directory that lies in a worktree of ours. */
export function worktreeAt(world: Places, dir: string): WorktreeView | null {
  const path = topOf(world, dir)
  if (path === null) return null
  const { directories, worktreeOrigins } = world
  if (directories.exists(path)) return { path, branch: directories.branch(path), repository: directories.mainWorktree(path) }
  const origin = worktreeOrigins.origin(path)
  return { path, branch: origin?.branch ?? null, repository: origin?.repository ?? null, gone: true }
}

type Places = Pick<World, 'directories' | 'worktreeOrigins' | 'worktreesFolder'>

function topOf({ worktreesFolder }: Pick<World, 'worktreesFolder'>, dir: string): string | null {
  const name = dir.startsWith(`${worktreesFolder}/`) ? dir.slice(worktreesFolder.length + 1).split('/', 1)[0] : undefined
  return name === undefined ? null : join(worktreesFolder, name)
}

/** As it is now: its agent may have changed its branch. One that is on no branch keeps what is known. A full disk is no trouble. */
export function recordOrigin({ directories, worktreeOrigins }: Pick<World, 'directories' | 'worktreeOrigins'>, path: string): void {
  const [branch, repository] = [directories.branch(path), directories.mainWorktree(path)]
  if (branch !== null && repository !== null) worktreeOrigins.recordOrigin({ path, repository, branch })
}

/** Who works in a directory, or below it, whether or not we know them. */
export function cwdsBelow({ processes }: Pick<World, 'processes'>): (path: string) => string | null {
  const { rows, blind } = processes.table({ since: Number.POSITIVE_INFINITY, cookies: false })
  const at = rows.flatMap((row) => (isDead(row.state) ? [] : [{ row, cwd: processes.cwd(row.pid) }]))
  return (path) => {
    const found = at.find(({ cwd }) => cwd !== null && (cwd === path || cwd.startsWith(`${path}/`)))
    return found === undefined ? blind : `${found.row.name} (pid ${found.row.pid}) works in it`
  }
}
