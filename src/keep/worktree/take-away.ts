import { randomUUID } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { REMOVED_PREFIX } from '../../model/index.ts'
import type { Answer } from './git.ts'

/** Git in what all worktrees of a repository share. */
type Main = (args: readonly string[], ms?: number) => Promise<Answer>

/** It is moved aside first: one who dies over the removal leaves no half of a worktree behind, only what `prune` may delete. Null: it is gone. */
export async function takeAway(main: Main, path: string): Promise<string | null> {
  const aside = join(dirname(path), `${REMOVED_PREFIX}${randomUUID()}`)
  try {
    await rename(path, aside)
  } catch (error) {
    return `it cannot be moved: ${(error as NodeJS.ErrnoException).code}`
  }
  // Its folder is gone, so git only forgets it; ours is the lock that it would heed.
  const forgotten = await main(['worktree', 'remove', '--force', '--force', '--', path])
  if (forgotten.kind === 'failed') {
    await rename(aside, path).catch(() => {})
    return forgotten.why
  }
  await rm(aside, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  return null
}

/** A branch is dropped only at the commit that was looked at, or if git itself sees that it holds nothing of its own. */
export async function dropBranch(main: Main, branch: string, at: string | null): Promise<void> {
  if (at === null) return void (await main(['branch', '-d', '--', branch]))
  const dropped = await main(['update-ref', '-d', `refs/heads/${branch}`, at])
  if (dropped.kind === 'done') await main(['config', '--local', '--remove-section', `branch.${branch}`])
}
