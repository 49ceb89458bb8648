import { lstatSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { readIfFile } from '../../lib/index.ts'
import { type HeadLook, policy, REMOVED_PREFIX, WORKTREE_REASON, type WorktreeState } from '../../model/index.ts'
import { hiddenWork } from './hidden-work.ts'
import { type Look, lookAt, type Site } from './looking.ts'
import { type Seat, seatOf } from './seat.ts'

/** What in a worktree's own git folder says that git is in the middle of something. */
export const UNDER_WAY = /^(?:rebase-merge|rebase-apply|MERGE_HEAD|CHERRY_PICK_HEAD|REVERT_HEAD|sequencer|BISECT_LOG|index\.lock)$/

/** What is to be said of a linked worktree before it may be removed. Writes nothing, and runs nothing of the repository's. */
export async function stateOf(site: Site, path: string): Promise<WorktreeState> {
  const entries = await readdir(path).catch(() => null)
  if (entries?.length === 0 || basename(path).startsWith(REMOVED_PREFIX)) return { kind: 'half' }
  const seat = seatOf(path)
  if (typeof seat === 'string') return { kind: 'unknown', why: seat }
  if (seat.own === seat.common) return { kind: 'unknown', why: 'it is the main working tree, and no linked one' }
  const seen = (await stateBySeat(seat)) ?? (await lookAt(site, path, seat, (git) => stateByGit(git, path, seat)))
  return 'trouble' in seen ? { kind: 'unknown', why: seen.trouble } : seen
}

/** The commit that a working tree is at. A branch that was just made by `git init` has none. */
export async function commitAt(site: Site, path: string): Promise<HeadLook> {
  const seat = seatOf(path)
  if (typeof seat === 'string') return { kind: 'unknown', why: seat }
  const seen = await lookAt(site, path, seat, async (git): Promise<HeadLook> => {
    const head = await git(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
    if (head.kind === 'done') return { kind: 'seen', commit: head.out.trim() }
    return head.code === 1 ? { kind: 'seen', commit: null } : { kind: 'unknown', why: head.why }
  })
  return 'trouble' in seen ? { kind: 'unknown', why: seen.trouble } : seen
}

/** What git's own folder of it tells, without git. */
async function stateBySeat({ own }: Seat): Promise<WorktreeState | null> {
  const names = await readdir(own).catch(() => null)
  if (names === null) return { kind: 'unknown', why: `${own} cannot be read` }
  const strange = ['HEAD', 'index', 'locked'].find((name) => names.includes(name) && !isFile(join(own, name)))
  if (strange !== undefined) return { kind: 'unknown', why: `${join(own, strange)} is no file` }
  const reason = readIfFile(join(own, 'locked'), policy.smallFileBytes, 'followed')
  if (reason?.trim() === 'initializing') return { kind: 'half' }
  if (names.includes('modules')) return SUBMODULES
  const busy = names.find((name) => UNDER_WAY.test(name))
  if (busy !== undefined) return { kind: 'dirty', why: `git is in the middle of something, or was stopped there (${busy})` }
  if (isLockedByOther(own, names))
    return { kind: 'dirty', why: `somebody locked it (git worktree lock): ${reason?.trim() ?? 'the reason cannot be read'}` }
  return null
}

/** Git's own lock of ours says so; any other one is somebody's wish that it stays. */
export const isLockedByOther = (own: string, names: readonly string[]): boolean =>
  names.includes('locked') && readIfFile(join(own, 'locked'), policy.smallFileBytes, 'followed')?.startsWith(WORKTREE_REASON) !== true

const isFile = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() !== false
const SUBMODULES: WorktreeState = { kind: 'dirty', why: 'it has submodules, which may hold work of their own' }

async function stateByGit(git: Look, path: string, { own }: Seat): Promise<WorktreeState> {
  // A submodule that is looked into would be looked at with its own configuration; `dirty` compares only its commit.
  const look = ['--untracked-files=normal', '--ignored=traditional', '--ignore-submodules=dirty', '--no-renames', '-z']
  const status = await git(['status', '--porcelain=v1', ...look])
  if (status.kind === 'failed') return { kind: 'unknown', why: status.why }
  const told = status.out.split('\0').filter((entry) => entry !== '')
  const open = told.filter((entry) => !isIgnored(entry))
  const untracked = open.filter((entry) => entry.startsWith('??')).length
  const more = ignoredWork(told.filter(isIgnored)) ?? (await hiddenWork(git, path, own)) ?? (await headOf(git))
  if (open.length === 0) return more
  const why = `uncommitted: ${open.length - untracked} changed, ${untracked} untracked${await filtered(git, path, open)}`
  return more.kind === 'clean' && !open.some(isTwice) ? { kind: 'dirty', why, content: true } : { kind: 'dirty', why }
}

/** What was staged is neither what was committed nor what lies in the file. */
const isTwice = (entry: string): boolean => /^[^ ?][^ ?]/.test(entry)

function ignoredWork(ignored: readonly string[]): WorktreeState | null {
  const only = ignored.map((entry) => entry.slice(3)).filter((name) => !name.endsWith('/'))
  if (only.length === 0) return null
  const more = only.length > 3 ? ` and ${only.length - 3} more` : ''
  return { kind: 'dirty', why: `git ignores ${only.slice(0, 3).join(', ')}${more}, which may be only here` }
}

/** Whole folders that git ignores are made by tools, and can be made again; single files (`.env`) may be somebody's only copy. */
const isIgnored = (entry: string): boolean => entry.startsWith('!!')

/** A file that passes a filter may look changed to one who does not run it. */
async function filtered(git: Look, path: string, open: readonly string[]): Promise<string> {
  const changed = open.flatMap((entry) => (/^.M/.test(entry) ? [entry.slice(3)] : [])).slice(0, MAX_ASKED)
  const answer = changed.length === 0 ? null : await git(['check-attr', '-z', 'filter', '--', ...changed])
  // Three words each: the file, `filter`, and its name.
  const names = answer?.kind === 'done' ? answer.out.split('\0').filter((_word, at) => at % 3 === 2) : []
  const count = names.filter((name) => !['unspecified', 'unset', 'set', ''].includes(name)).length
  return count === 0 ? '' : ` (${count} of them through a filter, which Holdfast does not run; 'git -C ${path} status' tells whether they are)`
}
const MAX_ASKED = 100

/** A stash or a bisection may hold the commit too, but neither is a place where anyone would look for it. */
async function headOf(git: Look): Promise<WorktreeState> {
  const head = await git(['symbolic-ref', '--quiet', 'HEAD'])
  if (head.kind === 'failed' && head.code !== 1) return { kind: 'unknown', why: head.why }
  const branch = head.kind === 'done' ? /^refs\/heads\/(.+)\n$/.exec(head.out)?.[1] : undefined
  if (branch !== undefined) return { kind: 'clean', branch }
  const holders = await git(['for-each-ref', '--contains', 'HEAD', '--count=1', 'refs/heads', 'refs/tags', 'refs/remotes'])
  if (holders.kind === 'failed') return { kind: 'unknown', why: holders.why }
  return holders.out === '' ? { kind: 'dirty', why: 'it is on a commit that no branch or tag holds' } : { kind: 'clean', branch: null }
}
