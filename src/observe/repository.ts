import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Repository } from '../model/index.ts'
import { readRegular } from './read.ts'

/** The git repository that a directory lies in, from git's own files: the nearest working tree, or a bare repository. */
export function findRepository(path: string, keyOf: (path: string) => string): Repository | null {
  for (let folder = path; ; folder = dirname(folder)) {
    const git = gitDirectory(join(folder, '.git')) ?? (isGitDirectory(folder) ? folder : null)
    if (git !== null) return repositoryAt(folder, git, keyOf)
    if (folder === '/') return null
  }
}

/**
 * Linked worktrees are told apart by the folder that git keeps for each; everything else of a repository is one. A folder that only claims
 * to be linked, and that git does not know of, is none.
 */
function repositoryAt(root: string, git: string, keyOf: (path: string) => string): Repository | null {
  const common = readRegular(join(git, 'commondir'))
  try {
    const shared = keyOf(common === null ? git : resolve(git, common.trim()))
    return { root, common: shared, top: common !== null && isLinkedTo(git, root) ? keyOf(git) : shared }
  } catch {
    // It names something that is not there any more: no repository to speak of.
    return null
  }
}

/** Git writes down where the worktree is. */
function isLinkedTo(git: string, root: string): boolean {
  const back = readRegular(join(git, 'gitdir'))?.trim()
  try {
    return back !== undefined && realpathSync(dirname(resolve(git, back))) === root
  } catch {
    return false
  }
}

/** `.git` is the repository itself or, in a linked worktree or a submodule, a file that says where that is. */
function gitDirectory(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined || stat.isDirectory()) return stat === undefined ? null : path
  const named = /^gitdir: (.+?)\n*$/.exec(readRegular(path) ?? '')?.[1]
  return named === undefined ? null : resolve(dirname(path), named)
}

const isGitDirectory = (folder: string): boolean => ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)))

/** The working tree that a linked one belongs to, or the bare repository itself. */
export function mainOf(root: string): string | null {
  const git = gitDirectory(join(root, '.git'))
  const common = git === null ? null : readRegular(join(git, 'commondir'))
  const main = git === null || common === null ? git : resolve(git, common.trim())
  return main === null ? null : basename(main) === '.git' ? dirname(main) : main
}

/** The branch that a working tree is on, for people; null: none, or it cannot be told. */
export function branchOf(root: string): string | null {
  const git = gitDirectory(join(root, '.git'))
  return git === null ? null : (/^ref: refs\/heads\/(.+?)\n*$/.exec(readRegular(join(git, 'HEAD')) ?? '')?.[1] ?? null)
}

/** The branch that a directory is on, for people: many directories have the same folders above them, which are looked at once. */
export function branchFinder(): (path: string) => string | null {
  const known = new Map<string, string | null>()
  const find = (folder: string): string | null => {
    const before = known.get(folder)
    if (before !== undefined) return before
    const git = gitDirectory(join(folder, '.git'))
    const branch = git !== null ? branchOf(folder) : folder === dirname(folder) ? null : find(dirname(folder))
    known.set(folder, branch)
    return branch
  }
  return find
}

/** Whether a directory may lie in a repository by now, at little cost: many directories have the same folders above them, which are looked at once. */
export function repositoryScout(): (path: string) => boolean {
  const known = new Map<string, boolean>()
  const mayBe = (folder: string): boolean => {
    const before = known.get(folder)
    if (before !== undefined) return before
    const found = existsSync(join(folder, '.git')) || existsSync(join(folder, 'HEAD')) || (folder !== dirname(folder) && mayBe(dirname(folder)))
    known.set(folder, found)
    return found
  }
  return mayBe
}
