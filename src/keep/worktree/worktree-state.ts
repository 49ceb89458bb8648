import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { readIfFile } from '../../lib/index.ts'
import { policy, REMOVED_PREFIX, WORKTREE_REASON, type WorktreeState } from '../../model/index.ts'
import { type Answer, type Git, isThere, linesOf } from './git.ts'

/** What in a worktree's own git folder says that git is in the middle of something. */
const UNDER_WAY = /^(?:rebase-merge|rebase-apply|MERGE_HEAD|CHERRY_PICK_HEAD|REVERT_HEAD|sequencer|BISECT_LOG|index\.lock)$/

/** What is to be said of a linked worktree before it may be removed. Writes nothing. */
export async function stateOf(git: Git, path: string): Promise<WorktreeState> {
  const entries = await readdir(path).catch(() => null)
  if (entries?.length === 0 || basename(path).startsWith(REMOVED_PREFIX)) return { kind: 'half' }
  const seat = await seatOf(git, path)
  if (typeof seat === 'string') return { kind: 'unknown', why: seat }
  if (seat.own === seat.common) return { kind: 'unknown', why: 'it is the main working tree, and no linked one' }
  const reason = readIfFile(join(seat.own, 'locked'), policy.smallFileBytes, 'followed')
  if (reason?.trim() === 'initializing') return { kind: 'half' }
  const names = await readdir(seat.own).catch(() => null)
  if (names === null) return { kind: 'unknown', why: `${seat.own} cannot be read` }
  if (names.includes('modules')) return { kind: 'dirty', why: 'it has submodules, which may hold work of their own' }
  const busy = names.find((name) => UNDER_WAY.test(name))
  if (busy !== undefined) return { kind: 'dirty', why: `git is in the middle of something, or was stopped there (${busy})` }
  if (reason !== null && !reason.startsWith(WORKTREE_REASON))
    return { kind: 'dirty', why: `somebody locked it (git worktree lock): ${reason.trim()}` }
  const status = await git(path, [
    'status',
    '--porcelain=v1',
    '--untracked-files=normal',
    '--ignored=traditional',
    '--ignore-submodules=none',
    '--no-renames',
    '-z',
  ])
  if (status.kind === 'failed') return { kind: 'unknown', why: status.why }
  const told = status.out.split('\0').filter((entry) => entry !== '')
  const [ignored, open] = [told.filter(isIgnored), told.filter((entry) => !isIgnored(entry))]
  const untracked = open.filter((entry) => entry.startsWith('??')).length
  if (open.length > 0) return { kind: 'dirty', why: `uncommitted: ${open.length - untracked} changed, ${untracked} untracked` }
  const only = ignored.map((entry) => entry.slice(3)).filter((name) => !name.endsWith('/'))
  if (only.length > 0)
    return {
      kind: 'dirty',
      why: `git ignores ${only.slice(0, 3).join(', ')}${only.length > 3 ? ` and ${only.length - 3} more` : ''}, which may be only here`,
    }
  return (await hiddenWork(git, path, seat.own)) ?? headOf(git, path)
}

/** What git was told not to look at, and commits that only the history of this worktree's HEAD still names. */
async function hiddenWork(git: Git, path: string, own: string): Promise<WorktreeState | null> {
  const files = await git(path, ['ls-files', '-v'])
  if (files.kind === 'failed') return { kind: 'unknown', why: files.why }
  const unseen = await Promise.all(linesOf(files.out).flatMap((line) => (/^([a-z]|S) /.test(line) ? [isThere(join(path, line.slice(2)))] : [])))
  if (unseen.includes(true)) return { kind: 'dirty', why: 'git was told not to look at some of its files (assume-unchanged or skip-worktree)' }
  const shas = historyOf(join(own, 'logs', 'HEAD'))?.slice(-MAX_HISTORY)
  const kept = new Set(historyOf(join(own, '..', '..', 'logs', (await git(path, ['symbolic-ref', '--quiet', 'HEAD']).then(refIn)) ?? 'HEAD')) ?? [])
  if (shas === undefined) return { kind: 'unknown', why: `${join(own, 'logs', 'HEAD')} cannot be read` }
  const only = shas.filter((sha) => !kept.has(sha))
  if (only.length === 0) return null
  const lost = await git(path, ['rev-list', '--ignore-missing', '--max-count=1', ...only, '--not', '--branches', '--tags', '--remotes'])
  if (lost.kind === 'failed') return { kind: 'unknown', why: lost.why }
  return lost.out === '' ? null : { kind: 'dirty', why: 'commits were made in it that no branch or tag holds' }
}
const MAX_HISTORY = 500

const refIn = (answer: Answer): string | null => (answer.kind === 'done' ? answer.out.trim() : null)

/** The commits that a log of git's names; null: it cannot be read. */
function historyOf(log: string): string[] | null {
  const text = existsSync(log) ? readIfFile(log, policy.gitLogBytes, 'followed') : ''
  return text === null ? null : [...new Set(linesOf(text).flatMap((line) => /^[\da-f]+ ([\da-f]{40,64}) /.exec(line)?.[1] ?? []))]
}

/** Whole folders that git ignores are made by tools, and can be made again; single files (`.env`) may be somebody's only copy. */
const isIgnored = (entry: string): boolean => entry.startsWith('!!')

/** Where git keeps what it knows of it. A worktree whose own .git is gone must not be taken for the repository around it. */
export async function seatOf(git: Git, path: string): Promise<{ readonly own: string; readonly common: string } | string> {
  const answer = await git(path, ['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir', '--show-cdup'])
  if (answer.kind === 'failed') return answer.why
  const [own = '', common = '', up, ...rest] = answer.out.split('\n')
  return up === '' && rest.length === 1 ? { own, common } : `${path} is not the top of a worktree`
}

/** A stash or a bisection may hold the commit too, but neither is a place where anyone would look for it. */
async function headOf(git: Git, path: string): Promise<WorktreeState> {
  const head = await git(path, ['symbolic-ref', '--quiet', 'HEAD'])
  if (head.kind === 'failed' && head.code !== 1) return { kind: 'unknown', why: head.why }
  const branch = head.kind === 'done' ? /^refs\/heads\/(.+)\n$/.exec(head.out)?.[1] : undefined
  if (branch !== undefined) return { kind: 'clean', branch }
  const holders = await git(path, ['for-each-ref', '--contains', 'HEAD', '--count=1', 'refs/heads', 'refs/tags', 'refs/remotes'])
  if (holders.kind === 'failed') return { kind: 'unknown', why: holders.why }
  return holders.out === '' ? { kind: 'dirty', why: 'it is on a commit that no branch or tag holds' } : { kind: 'clean', branch: null }
}
