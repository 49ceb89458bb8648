import { join } from 'node:path'
import type { WorktreeContent } from '../../model/index.ts'
import { type Answer, linesOf } from './git.ts'
import { type Look, lookAt, NEW_OBJECTS, type Site } from './looking.ts'
import { seatOf } from './seat.ts'
import { snapshotOf } from './snapshot.ts'

/** How far back the target is searched for a commit that holds everything; later commits may have changed the same lines. */
const MAX_SEARCHED = 100
const MAX_PATHS = 500

/**
 * Whether all that lies in a worktree is in the history of a target branch, also after a squash merge. Content is compared: merging it into a
 * commit of the target must change nothing. New objects and the index of the comparison lie in the private folder of the look.
 */
export async function contentOf(site: Site, path: string, target: string, base: string | null): Promise<WorktreeContent> {
  const seat = seatOf(path)
  if (typeof seat === 'string') return { kind: 'unknown', why: seat }
  const found = await lookAt(site, path, seat, async (look, folder) => {
    const git: Look = (args, own) => look(args, { ...privateObjects(folder), ...own })
    const snapshot = await snapshotOf(git, folder)
    if ('trouble' in snapshot) return { kind: 'unknown', why: snapshot.trouble } as const
    return compared(git, snapshot, target, base)
  })
  return 'trouble' in found ? { kind: 'unknown', why: found.trouble } : found
}

/** For a look that makes objects: none of them comes into the repository. */
export const privateObjects = (folder: string): Record<string, string> => ({
  GIT_OBJECT_DIRECTORY: join(folder, NEW_OBJECTS),
  GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${join(folder, 'objects').replaceAll(/[\\"]/g, '\\$&')}"`,
})

type Snapshot = Exclude<Awaited<ReturnType<typeof snapshotOf>>, { readonly trouble: string }>

async function compared(git: Look, snapshot: Snapshot, target: string, base: string | null): Promise<WorktreeContent> {
  const { commit, ...seal } = snapshot
  const tip = await commitNamed(git, target)
  if (tip === null) return { kind: 'unknown', why: `there is no branch ${target} to compare it with` }
  const parted = await git(['merge-base', tip, seal.head])
  if (parted.kind === 'failed' && parted.code !== 1) return { kind: 'unknown', why: parted.why }
  const from = (base === null ? null : await ancestor(git, base, seal.head)) ?? (parted.kind === 'done' ? parted.out.trim() : null)
  const size = await sizeOf(git, from, seal)
  if (typeof size === 'string') return { kind: 'unknown', why: size }
  const merged = await git(['merge-base', '--is-ancestor', commit, tip])
  if (merged.kind === 'done') return { kind: 'in-target', how: 'merged', seal, ...size }
  if (merged.code !== 1) return { kind: 'unknown', why: merged.why }
  // Without a common commit there is nothing to merge by.
  if (parted.kind === 'failed') return { kind: 'ahead', seal, ...size }
  const holder = await heldBy(git, commit, tip, parted.out.trim())
  if (holder.kind === 'unknown') return holder
  return holder.kind === 'found' ? { kind: 'in-target', how: 'squashed', seal, ...size } : { kind: 'ahead', seal, ...size }
}

/** The commit of a branch here, or of one that was fetched. */
async function commitNamed(git: Look, target: string): Promise<string | null> {
  for (const name of target.startsWith('refs/') ? [target] : [`refs/heads/${target}`, `refs/remotes/${target}`]) {
    const answer = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])
    if (answer.kind === 'done') return answer.out.trim()
  }
  return null
}

async function ancestor(git: Look, base: string, head: string): Promise<string | null> {
  const isCommit = /^[\da-f]{40,64}$/.test(base)
  return isCommit && (await git(['merge-base', '--is-ancestor', base, head])).kind === 'done' ? base : null
}

type Size = { readonly commits: number; readonly files: number }
async function sizeOf(git: Look, from: string | null, { head, tree }: { readonly head: string; readonly tree: string }): Promise<Size | string> {
  const counted = await git(['rev-list', '--count', head, ...(from === null ? [] : [`^${from}`])])
  if (counted.kind === 'failed') return counted.why
  const changed = await pathsBetween(git, from, tree)
  return typeof changed === 'string' ? changed : { commits: Number(counted.out), files: changed.length }
}

async function pathsBetween(git: Look, from: string | null, to: string): Promise<string[] | string> {
  const args = from === null ? ['ls-tree', '-r', '-z', '--name-only', to] : ['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to]
  const answer = await git(args)
  return answer.kind === 'failed' ? answer.why : answer.out.split('\0').filter((name) => name !== '')
}

type Holder = { readonly kind: 'found' } | { readonly kind: 'none' } | { readonly kind: 'unknown'; readonly why: string }

/** A commit of the target, the newest first, which merging it would leave as it is. */
async function heldBy(git: Look, commit: string, tip: string, parted: string): Promise<Holder> {
  const paths = await pathsBetween(git, parted, commit)
  if (typeof paths === 'string') return { kind: 'unknown', why: paths }
  const among = paths.length > MAX_PATHS ? [] : ['--', ...paths.map((path) => `:(top,literal)${path}`)]
  const listed = await git(['rev-list', '--first-parent', `--max-count=${MAX_SEARCHED}`, tip, `^${parted}`, ...among])
  if (listed.kind === 'failed') return { kind: 'unknown', why: listed.why }
  for (const candidate of new Set([tip, ...linesOf(listed.out)])) {
    const [mine, merged] = [await git(['rev-parse', '--verify', `${candidate}^{tree}`]), await mergedTree(git, candidate, commit)]
    if (mine.kind === 'failed') return { kind: 'unknown', why: mine.why }
    if (merged.kind === 'done' && merged.out.trim() === mine.out.trim()) return { kind: 'found' }
    if (merged.kind === 'failed' && merged.code !== 1) return { kind: 'unknown', why: merged.why }
  }
  return { kind: 'none' }
}

/** Status 1 means a conflict. Git before 2.38 cannot do it, which is unknown. */
const mergedTree = (git: Look, into: string, commit: string): Promise<Answer> => git(['merge-tree', '--write-tree', '--no-messages', into, commit])
