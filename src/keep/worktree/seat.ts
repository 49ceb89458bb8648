import { existsSync, lstatSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readIfFile } from '../../lib/index.ts'
import { policy } from '../../model/index.ts'

/** Where git keeps what it knows of a worktree: `own` is its own folder, `common` the one that all worktrees of its repository share. */
export type Seat = { readonly own: string; readonly common: string }

/** From git's own files, without git. A worktree whose own .git is gone must not be taken for the repository around it. */
export function seatOf(path: string): Seat | string {
  const link = join(path, '.git')
  const there = lstatSync(link, { throwIfNoEntry: false })
  if (there === undefined) return `${path} is not the top of a worktree`
  if (there.isDirectory()) return { own: link, common: link }
  const named = /^gitdir: (.+?)\n*$/.exec(readIfFile(link, policy.smallFileBytes, 'followed') ?? '')?.[1]
  if (named === undefined) return `invalid gitfile: ${link}`
  const own = resolve(path, named)
  const shared = readIfFile(join(own, 'commondir'), policy.smallFileBytes, 'followed')
  const common = shared === null ? own : resolve(own, shared.trim())
  if (!existsSync(join(own, 'HEAD')) || !['objects', 'refs'].every((name) => existsSync(join(common, name)))) return `not a git repository: ${own}`
  return { own, common }
}
