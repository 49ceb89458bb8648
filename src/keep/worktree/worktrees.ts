import { mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BRANCH_PREFIX, type Environment, type WorktreeRequest, type Worktrees } from '../../model/index.ts'
import { type Acting, actingGit } from './acting.ts'
import { contentOf } from './content.ts'
import { discard } from './discard.ts'
import { type Answer, isThere, linesOf } from './git.ts'
import type { Site } from './looking.ts'
import { merge } from './merge.ts'
import { seatOf } from './seat.ts'
import { dropBranch, takeAway } from './take-away.ts'
import { commitAt, stateOf } from './worktree-state.ts'

/** For what writes or deletes a whole tree: a removal that is cut short would look like work in it. */
const TREE_MS = 120_000

/** `looks`: a folder of ours, for what a look needs. */
export function gitWorktrees(env: Environment, looks: string): Worktrees {
  const acting = actingGit(env)
  const site = { env, folder: looks }
  return {
    head: (path) => commitAt(site, path),
    add: (request) => add(acting, request),
    state: (path) => stateOf(site, path),
    content: (path, target, base) => contentOf(site, path, target, base),
    branchAt: (repository, branch) => branchAt(acting.quietly, repository, branch),
    merge: (request) => merge(site, acting, request),
    discard: (path, ref) => discard(site, acting, path, ref),
    remove: (path, proven) => remove(site, acting.quietly, path, proven ?? null),
  }
}

type Git = Acting['quietly']
type Proven = NonNullable<Parameters<Worktrees['remove']>[1]>

async function add({ quietly: git, asUser }: Acting, { repository, path, branch, reason }: WorktreeRequest): Promise<string | null> {
  const trouble = await nameTrouble(git, branch)
  if (trouble !== null) return trouble
  const known = await git(repository, ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`])
  if (known.kind === 'failed' && known.code !== 1) return known.why
  const origin = known.kind === 'done' ? null : ((await onlyRemote(git, repository, branch)) ?? 'HEAD')
  if (origin === 'HEAD' && (await git(repository, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).kind === 'failed')
    return `${repository} has no commit yet from which a branch could be made`
  await forgetMissing(git, repository, path, branch)
  const taken = await reserve(path)
  if (taken !== null) return taken
  // The branch is made apart from the worktree, so that we know it to be ours if it has to go again.
  const made = origin === null ? null : await asUser(repository, ['branch', ...(origin === 'HEAD' ? [] : ['--track']), '--', branch, origin])
  // While git is at it, its own lock says so; ours comes after.
  const added = made?.kind === 'failed' ? made : await asUser(repository, ['worktree', 'add', '--quiet', '--', path, branch], TREE_MS)
  if (added.kind === 'done') await git(repository, ['worktree', 'lock', '--reason', reason, '--', path])
  if (added.kind === 'done') return null
  await takeBack(git, repository, path)
  if (made?.kind === 'done') await git(repository, ['branch', '-d', '--', branch])
  return added.why
}

/** A worktree of ours whose folder somebody has deleted would keep its place or its branch for good, by our own lock. Others are left alone. */
async function forgetMissing(git: Git, repository: string, path: string, branch: string): Promise<void> {
  const listed = await git(repository, ['worktree', 'list', '--porcelain', '-z'])
  const entries = listed.kind === 'failed' ? [] : listed.out.split('\0\0').map((entry) => entry.split('\0'))
  for (const lines of entries) {
    const at = lines[0]?.replace(/^worktree /, '') ?? ''
    const isInTheWay = at === path || lines.includes(`branch refs/heads/${branch}`)
    if (isInTheWay && dirname(at) === dirname(path) && !(await isThere(at)))
      await git(repository, ['worktree', 'remove', '--force', '--force', '--', at])
  }
}

async function branchAt(git: Git, repository: string, branch: string): Promise<string | null> {
  const answer = await git(repository, ['show-ref', '--verify', '--hash', `refs/heads/${branch}`])
  return answer.kind === 'done' ? answer.out.trim() : null
}

/** Git also expands what stands for a name, such as `@{-1}`. */
async function nameTrouble(git: Git, branch: string): Promise<string | null> {
  const answer = branch.startsWith('-') ? null : await git('/', ['check-ref-format', '--branch', branch])
  if (answer?.kind === 'failed') return answer.why
  return answer?.out === `${branch}\n` ? null : `'${branch}' is not a valid branch name`
}

/** The remote branch that a new local one of this name follows, as git itself would guess. */
async function onlyRemote(git: Git, repository: string, branch: string): Promise<string | null> {
  const remotes = await git(repository, ['remote'])
  if (remotes.kind === 'failed' || remotes.out === '') return null
  const wanted = linesOf(remotes.out).map((remote) => `refs/remotes/${remote}/${branch}`)
  const refs = await git(repository, ['for-each-ref', '--format=%(refname)', '--', ...wanted])
  const [found, another] = refs.kind === 'done' ? linesOf(refs.out).filter((ref) => wanted.includes(ref)) : []
  return another === undefined ? (found ?? null) : null
}

/** Git takes an empty folder; that we made it ourselves is what allows us to delete it again. */
async function reserve(path: string): Promise<string | null> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await mkdir(path)
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? `${path} already exists` : (error as Error).message
  }
}

/** Git comes first: while our folder is there without a .git, git keeps an older entry of that path, which is not ours to delete. */
async function takeBack(git: Git, repository: string, path: string): Promise<void> {
  await git(repository, ['worktree', 'remove', '--force', '--force', '--', path], TREE_MS)
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
}

/** Git alone would remove one in the middle of a rebase, or on a commit that nothing else holds. */
async function remove(site: Site, git: Git, path: string, proven: Proven | null): Promise<string | null> {
  const seen = await stateOf(site, path)
  if (seen.kind === 'half') return removeHalf(git, path)
  if (seen.kind === 'unknown' || (seen.kind === 'dirty' && (seen.content !== true || proven === null))) return seen.why
  const changed = proven === null ? null : await changeSince(site, path, proven)
  if (changed !== null) return changed
  const seat = seatOf(path)
  if (typeof seat === 'string') return seat
  const main = (args: readonly string[], ms?: number): Promise<Answer> => git(seat.common, ['--git-dir=.', ...args], ms)
  const stays = await takeAway(main, path)
  if (stays !== null) return stays
  const branch = proven?.seal.branch ?? (seen.kind === 'clean' ? seen.branch : null)
  if (branch?.startsWith(BRANCH_PREFIX)) await dropBranch(main, branch, proven?.seal.head ?? null)
  return null
}

/** It is compared once more: only that very content may go. */
async function changeSince(site: Site, path: string, { seal, target }: Proven): Promise<string | null> {
  const now = await contentOf(site, path, target, null)
  if (now.kind === 'unknown') return now.why
  const same = now.kind === 'in-target' && now.seal.head === seal.head && now.seal.tree === seal.tree && now.seal.branch === seal.branch
  return same ? null : `it has changed since it was compared with ${target}`
}

/** Null: it is gone. */
async function deleteFolder(path: string): Promise<string | null> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  return (await isThere(path)) ? 'it could not be deleted' : null
}

async function removeHalf(git: Git, path: string): Promise<string | null> {
  const seat = seatOf(path)
  if (typeof seat !== 'string') await git(seat.common, ['--git-dir=.', 'worktree', 'remove', '--force', '--force', '--', path], TREE_MS)
  return deleteFolder(path)
}
