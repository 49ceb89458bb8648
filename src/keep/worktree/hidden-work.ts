import { fstatSync, readSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { orNull, withFile } from '../../lib/index.ts'
import type { WorktreeState } from '../../model/index.ts'
import { isThere, linesOf } from './git.ts'
import type { Look } from './looking.ts'

/** What git was told not to look at, what we did not look into, and commits that only the history of this worktree's HEAD still names. */
export async function hiddenWork(git: Look, path: string, own: string): Promise<WorktreeState | null> {
  const files = await git(['ls-files', '-v', '-s', '-z'])
  if (files.kind === 'failed') return { kind: 'unknown', why: files.why }
  for (const entry of files.out.split('\0')) {
    const [, tag = '', mode = '', name = ''] = ENTRY.exec(entry) ?? []
    if (/^[a-zS]$/.test(tag) && (await isThere(join(path, name))))
      return { kind: 'dirty', why: 'git was told not to look at some of its files (assume-unchanged or skip-worktree)' }
    if (mode === '160000' && (await holdsAnything(join(path, name))))
      return { kind: 'dirty', why: 'it has submodules, which may hold work of their own' }
  }
  return lonelyCommits(git, own)
}

/** A letter, the mode, the object and the stage, and then the name, whatever that is. */
const ENTRY = /^(.) (\d+) [\da-f]+ \d\t(.*)$/s

const holdsAnything = (folder: string): Promise<boolean> =>
  readdir(folder).then(
    (names) => names.length > 0,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )

async function lonelyCommits(git: Look, own: string): Promise<WorktreeState | null> {
  const head = await git(['symbolic-ref', '--quiet', 'HEAD'])
  const branch = head.kind === 'done' ? head.out.trim() : 'HEAD'
  const logs = [join(own, 'logs', 'HEAD'), join(own, '..', '..', 'logs', branch)]
  const [shas, kept] = await Promise.all(logs.map(historyOf))
  if (shas === undefined || shas === null || kept === undefined || kept === null) return { kind: 'unknown', why: `${logs[0]} cannot be read` }
  const known = new Set(kept)
  const only = shas.slice(-MAX_HISTORY).filter((sha) => !known.has(sha))
  if (only.length === 0) return null
  const lost = await git(['rev-list', '--ignore-missing', '--max-count=1', ...only, '--not', '--branches', '--tags', '--remotes'])
  if (lost.kind === 'failed') return { kind: 'unknown', why: lost.why }
  return lost.out === '' ? null : { kind: 'dirty', why: 'commits were made in it that no branch or tag holds' }
}
const MAX_HISTORY = 500

/** The commits that the end of a log of git's names; null: it is there, and is no file. */
export async function historyOf(log: string): Promise<string[] | null> {
  const text = orNull(() => withFile(log, 'read', endOf, 'followed'))
  if (text === null) return (await isThere(log)) ? null : []
  return [...new Set(linesOf(text).flatMap((line) => /^[\da-f]+ ([\da-f]{40,64}) /.exec(line)?.[1] ?? []))]
}

const MAX_LOG_BYTES = 1_000_000
function endOf(fd: number): string {
  const size = fstatSync(fd).size
  const end = Buffer.alloc(Math.min(size, MAX_LOG_BYTES))
  return end.toString('utf8', 0, readSync(fd, end, 0, end.length, size - end.length))
}
