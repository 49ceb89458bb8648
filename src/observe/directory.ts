import { accessSync, type BigIntStats, constants, readlinkSync, realpathSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Directory, Mount } from '../model/index.ts'
import { Problem } from '../model/index.ts'
import { innerPath, mountedBelow, readMounts } from './mounts.ts'
import { findRepository } from './repository.ts'

/** A directory as it is now. `worktreesFolder`: a folder whose entries are apart from everything around them (our own worktrees). */
export function findDirectory(path: string, worktreesFolder: string | null = null, mounts: readonly Mount[] = readMounts()): Directory {
  const { real, stat } = enter(path)
  if (/(^|\/)\.git(\/|$)/i.test(real))
    throw new Problem('directory-of-git', `${path} belongs to git: nobody works in it, and it cannot be locked`, {
      hint: 'name the directory of the working tree',
    })
  const folders = above(real, worktreesFolder)
  const place = innerPath(real, mounts)
  // An island has as many names as it has folders; elsewhere a mount may hide some of them.
  const places = above(place, null).slice(0, folders.at(-1) === '/' || real === '/' ? undefined : folders.length)
  return {
    path: real,
    key: keyOf(real, stat),
    inner: `${stat.dev}@${place}`,
    above: [...folders.flatMap(keyIfThere), ...places.map((folder) => `${stat.dev}@${folder}`)],
    below: mountedBelow(real, mounts),
    repository: findRepository(real, keyOf),
  }
}

/** The same, or null where there is none that can be entered. */
export function lookForDirectory(path: string, worktreesFolder: string | null, mounts: readonly Mount[]): Directory | null {
  try {
    return findDirectory(path, worktreesFolder, mounts)
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

/** What a path leads to, by its key alone; null: nothing. */
export const keyAt = (path: string): string | null => keyIfThere(path)[0] ?? null

/** The directory that a process works in, by its key; `deleted` is what the kernel says, not what its name looks like. */
export function workplaceOf(pid: number): { readonly key: string; readonly path: string; readonly deleted: boolean } | null {
  try {
    const link = `/proc/${pid}/cwd`
    const stat = statSync(link, { bigint: true })
    return { key: keyOf(link, stat), path: readlinkSync(link), deleted: stat.nlink === 0n }
  } catch {
    return null
  }
}

function enter(path: string): { real: string; stat: BigIntStats } {
  try {
    const real = realpathSync.native(path)
    const stat = statSync(real, { bigint: true })
    if (!stat.isDirectory()) throw new Problem('directory-missing', `${path} is not a directory`)
    accessSync(real, constants.X_OK)
    return { real, stat }
  } catch (error) {
    if (error instanceof Problem) throw error
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new Problem('directory-missing', `no such directory: ${path}`, { cause: error })
    throw new Problem('directory-unreadable', `directory ${path} cannot be entered: ${code}`, { cause: error, detail: { reason: code } })
  }
}

/** All directories above, nearest first, as far as they matter. */
function above(path: string, worktreesFolder: string | null): string[] {
  const found: string[] = []
  for (let at = path; at !== '/' && dirname(at) !== worktreesFolder; at = dirname(at)) found.push(dirname(at))
  return found
}

/** Device and inode; and when it was made, where that can be relied on: a number is soon used again for the next directory. */
function keyOf(path: string, stat: BigIntStats = statSync(path, { bigint: true })): string {
  const birth = stat.birthtimeNs !== 0n && birthsAreTold(path, stat.dev) ? `:${stat.birthtimeNs}` : ''
  return `${stat.dev}:${stat.ino}${birth}`
}

/** What is renamed while we look has other names by now. */
function keyIfThere(path: string): string[] {
  try {
    return [keyOf(path)]
  } catch {
    return []
  }
}

/**
 * ext4, btrfs, XFS, tmpfs, F2FS, ZFS, bcachefs. On others a directory may get another time of birth while it lives (overlayfs, when it is
 * first written to), and a lock must not be lost by that.
 */
const TELLING = new Set([0xef53, 0x9123683e, 0x58465342, 0x01021994, 0xf2f52010, 0x2fc12fc1, 0xca451a4e])
const told = new Map<bigint, boolean>()

function birthsAreTold(path: string, device: bigint): boolean {
  const known = told.get(device) ?? (TELLING.has(Number(statfsSync(path).type) >>> 0) && hasStatx())
  told.set(device, known)
  return known
}

/** Without statx (an old seccomp filter) the last change is given for the birth, even in /proc, where nothing has one. */
const hasStatx = (): boolean => statSync('/proc', { bigint: true }).birthtimeNs === 0n
