import { join } from 'node:path'
import type { WorktreeSeal } from '../../model/index.ts'
import type { Look } from './looking.ts'

/** Nothing of the person is in a commit that is made for a comparison. */
export const AUTHOR = {
  GIT_AUTHOR_NAME: 'holdfast',
  GIT_AUTHOR_EMAIL: 'holdfast@localhost',
  GIT_AUTHOR_DATE: '1000000000 +0000',
  GIT_COMMITTER_NAME: 'holdfast',
  GIT_COMMITTER_EMAIL: 'holdfast@localhost',
  GIT_COMMITTER_DATE: '1000000000 +0000',
}

/**
 * All files of a worktree as a commit upon its HEAD: what is not committed is in it, and what git ignores is not, but for `also`. Its own index stays
 * as it is.
 */
export async function snapshotOf(
  git: Look,
  folder: string,
  also: readonly string[] = [],
): Promise<(WorktreeSeal & { readonly commit: string }) | { readonly trouble: string }> {
  const [head, branch] = [await git(['rev-parse', '--verify', 'HEAD^{commit}']), await git(['symbolic-ref', '--quiet', 'HEAD'])]
  if (head.kind === 'failed') return { trouble: head.why }
  const seal = { branch: branch.kind === 'done' ? (/^refs\/heads\/(.+)\n$/.exec(branch.out)?.[1] ?? null) : null, head: head.out.trim() }
  // Its own index knows which files are as they were, also those that pass a filter.
  const open = await git(['status', '--porcelain', '--untracked-files=normal', '--ignore-submodules=dirty', '-z'])
  if (open.kind === 'failed') return { trouble: open.why }
  const own = { GIT_INDEX_FILE: join(folder, 'index') }
  // An index made from HEAD alone knows no file that git was told not to look at.
  const files = also.map((name) => `:(top,literal)${name}`)
  const more = files.length === 0 ? [] : [['add', '-f', '--', ...files]]
  const whole = [['read-tree', 'HEAD'], ['add', '-A', '--', ':/'], ...more, ['write-tree']]
  const steps = open.out === '' && files.length === 0 ? [['rev-parse', '--verify', 'HEAD^{tree}']] : whole
  let tree = ''
  for (const step of steps) {
    const done = await git(step, own)
    if (done.kind === 'failed') return { trouble: done.why }
    tree = done.out.trim()
  }
  const links = await git(['diff-tree', '-r', '--raw', '--no-renames', seal.head, tree])
  if (links.kind === 'failed') return { trouble: links.why }
  if (/^:\d+ 160000 /m.test(links.out)) return { trouble: 'another repository lies in it' }
  if (links.out === '') return { ...seal, tree, commit: seal.head }
  const made = await git(['commit-tree', tree, '-p', seal.head, '-m', 'holdfast: what was not committed'], AUTHOR)
  return made.kind === 'failed' ? { trouble: made.why } : { ...seal, tree, commit: made.out.trim() }
}
