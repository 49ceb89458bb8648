import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { BRANCH_PREFIX, type DiscardAnswer, WORKTREE_REASON } from '../../model/index.ts'
import type { Acting } from './acting.ts'
import { linesOf } from './git.ts'
import { historyOf } from './hidden-work.ts'
import { type Look, lookAt, type Site } from './looking.ts'
import { type Seat, seatOf } from './seat.ts'
import { AUTHOR, snapshotOf } from './snapshot.ts'
import { dropBranch, takeAway } from './take-away.ts'
import { isLockedByOther } from './worktree-state.ts'

/** So many commits of the history of a worktree's HEAD are kept with it, the newest. */
const MAX_HISTORY = 100

/**
 * A commit of everything that lies in a worktree, under a ref that nothing removes; only then the worktree goes, and a branch of ours. Its parents
 * are the commit that it is on, its branch, what was staged, and what only the history of its HEAD names.
 */
export async function discard(site: Site, { quietly }: Acting, path: string, ref: string): Promise<DiscardAnswer> {
  const seat = seatOf(path)
  if (typeof seat === 'string') return { kind: 'refused', why: seat }
  const trouble = await obstacle(seat)
  if (trouble !== null) return { kind: 'refused', why: trouble }
  const kept = await lookAt(site, path, seat, (git, folder) => keepAll(git, folder, seat))
  if ('trouble' in kept) return { kind: 'refused', why: kept.trouble }
  const main = (args: readonly string[], ms?: number) => quietly(seat.common, ['--git-dir=.', ...args], ms)
  const named = await main(['update-ref', ref, kept.commit, '0'.repeat(kept.commit.length)])
  if (named.kind === 'failed') return { kind: 'refused', why: named.why }
  const stays = await takeAway(main, path)
  if (stays !== null) return { kind: 'refused', why: `${stays}; its content is kept in ${ref}` }
  const { branch, tip } = kept
  if (branch?.startsWith(BRANCH_PREFIX) && tip !== null) await dropBranch(main, branch, tip)
  return { kind: 'discarded', branch }
}

async function obstacle({ own, common }: Seat): Promise<string | null> {
  if (own === common) return 'it is the main working tree, and no linked one'
  const names = await readdir(own).catch(() => null)
  if (names === null) return `${own} cannot be read`
  if (names.includes('modules')) return 'it has submodules, which may hold work of their own'
  return isLockedByOther(own, names) ? `somebody locked it (git worktree lock), and not with '${WORKTREE_REASON}…'` : null
}

type Kept = { readonly commit: string; readonly branch: string | null; readonly tip: string | null }

async function keepAll(git: Look, folder: string, { own }: Seat): Promise<Kept | { readonly trouble: string }> {
  const ignored = await git(['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'])
  if (ignored.kind === 'failed') return { trouble: ignored.why }
  // Whole folders that git ignores are made by tools, and can be made again.
  const single = ignored.out.split('\0').filter((name) => name !== '' && !name.endsWith('/'))
  const snapshot = await snapshotOf(git, folder, single)
  if ('trouble' in snapshot) return snapshot
  const { branch, head, tree } = snapshot
  const tip = branch === null ? null : head
  const parents = [...(await othersOf(git, own, head)), ...(await stagedOf(git, head, tree))]
  const message = `holdfast: a discarded worktree${branch === null ? '' : ` of ${branch}`}`
  const made = await git(['commit-tree', tree, ...[head, ...parents].flatMap((parent) => ['-p', parent]), '-m', message], AUTHOR)
  return made.kind === 'failed' ? { trouble: made.why } : { commit: made.out.trim(), branch, tip }
}

/** Commits beside its HEAD that were made in it: amended, rebased, or in the middle of a merge. */
async function othersOf(git: Look, own: string, head: string): Promise<string[]> {
  const heads = ['ORIG_HEAD', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REBASE_HEAD', 'rebase-merge/orig-head', 'rebase-apply/orig-head']
  const known: string[] = []
  for (const name of [...heads, ...((await historyOf(join(own, 'logs', 'HEAD'))) ?? []).slice(-MAX_HISTORY)]) {
    const found = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])
    if (found.kind === 'done') known.push(found.out.trim())
  }
  const lonely = await git(['merge-base', '--independent', head, ...new Set(known)])
  return lonely.kind === 'done' ? linesOf(lonely.out).filter((commit) => commit !== head) : [...new Set(known)].filter((commit) => commit !== head)
}

/** What was staged, where that is neither what was committed nor what lies in the files. In the middle of a conflict there is no such tree. */
async function stagedOf(git: Look, head: string, tree: string): Promise<string[]> {
  const staged = await git(['write-tree'])
  const committed = await git(['rev-parse', '--verify', `${head}^{tree}`])
  if (staged.kind === 'failed' || [tree, committed.kind === 'done' ? committed.out.trim() : null].includes(staged.out.trim())) return []
  const made = await git(['commit-tree', staged.out.trim(), '-p', head, '-m', 'holdfast: what was staged'], AUTHOR)
  return made.kind === 'done' ? [made.out.trim()] : []
}
