import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../../lib/index.ts'
import type { Branches, BranchLook, Environment } from '../../model/index.ts'
import { type Acting, actingGit } from './acting.ts'
import { linesOf } from './git.ts'
import { type Look, lookAt, type Site } from './looking.ts'
import { seatOf } from './seat.ts'

/** A push talks to another machine. */
const PUSH_MS = 120_000
/** So many changed files are looked at. More of them still change the fingerprint by their names. */
const FILES = 2_000

/** `looks`: a folder of ours, for what a look needs. */
export function gitBranches(env: Environment, looks: string): Branches {
  const { quietly, asUser } = actingGit(env)
  const site = { env, folder: looks }
  return {
    base: (repository, branch) => baseOf(site, repository, branch),
    look: (repository, branch, base) => lookAtBranch(site, quietly, repository, branch, base),
    progress: (worktree) => progressOf(site, worktree),
    changes: (worktree) => changesIn(site, worktree),
    async push(repository, remote, branch) {
      const name = `refs/heads/${branch}`
      const pushed = await asUser(repository, ['push', '--quiet', '--no-follow-tags', '--', remote, `${name}:${name}`], PUSH_MS)
      return pushed.kind === 'done' ? null : pushed.why
    },
  }
}

type Failed = { readonly why: string }

/** One look at a tree, with whatever goes wrong as an answer. */
async function looking<T>(site: Site, path: string, body: (git: Look) => Promise<T>): Promise<T | Failed> {
  const seat = seatOf(path)
  if (typeof seat === 'string') return { why: seat }
  const seen = await lookAt(site, path, seat, body)
  return typeof seen === 'object' && seen !== null && 'trouble' in seen ? { why: seen.trouble } : (seen as T)
}

const baseOf = (site: Site, repository: string, branch: string): Promise<{ commit: string } | Failed> =>
  looking(site, repository, async (git) => {
    const shared = await git(['merge-base', 'HEAD', `refs/heads/${branch}`])
    return shared.kind === 'done' ? { commit: shared.out.trim() } : { why: shared.why }
  })

async function lookAtBranch(site: Site, acting: Acting['quietly'], repository: string, branch: string, base: string): Promise<BranchLook> {
  const seen = await looking(site, repository, async (git) => {
    const head = await git(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`])
    if (head.kind === 'failed') return { why: head.code === 1 ? `there is no branch ${branch}` : head.why }
    const count = await git(['rev-list', '--count', `${base}..refs/heads/${branch}`])
    return count.kind === 'failed' ? { why: count.why } : { head: head.out.trim(), commits: Number(count.out.trim()) }
  })
  if ('why' in seen) return { kind: 'unknown', why: seen.why }
  // A look reads no configuration, and remotes are part of it.
  const remotes = await acting(repository, ['remote'])
  if (remotes.kind === 'failed') return { kind: 'unknown', why: remotes.why }
  const names = linesOf(remotes.out)
  return { kind: 'seen', ...seen, remote: names.includes('origin') ? 'origin' : names.length === 1 ? (names[0] ?? null) : null }
}

/** `XY name`, each with its name. A rename would have two. */
const STATUS = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=all', '--ignore-submodules=dirty']

async function changesIn(site: Site, worktree: string): Promise<readonly string[] | null> {
  const seen = await looking(site, worktree, async (git) => {
    const status = await git(STATUS)
    return status.kind === 'failed' ? { why: status.why } : status.out.split('\0').flatMap((entry) => (entry === '' ? [] : [entry.slice(3)]))
  })
  return 'why' in seen ? null : seen
}

async function progressOf(site: Site, worktree: string): Promise<string | null> {
  const seen = await looking(site, worktree, async (git) => {
    const [head, status] = [await git(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']), await git(STATUS)]
    if (head.kind === 'failed' || status.kind === 'failed') return { why: 'it cannot be seen' }
    return { head: head.out.trim(), entries: status.out.split('\0').filter((entry) => entry !== '') }
  })
  if ('why' in seen) return null
  const files = await Promise.all(seen.entries.slice(0, FILES).map((entry) => stampOf(join(worktree, entry.slice(3)))))
  return sha256(JSON.stringify([seen.head, seen.entries, files]))
}

const stampOf = (path: string): Promise<string> =>
  lstat(path).then(
    ({ size, mtimeMs }) => `${size} ${mtimeMs}`,
    () => 'gone',
  )
