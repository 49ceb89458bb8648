import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { BRANCH_PREFIX, type Environment, WORKTREE_REASON, type WorktreeRequest, type WorktreeState, type Worktrees } from '../model/index.ts'

const ASK_MS = 15_000
/** For what writes or deletes a whole tree: a removal that is cut short would look like work in it. */
const TREE_MS = 120_000
const MAX_OUTPUT_BYTES = 1_000_000
/** What in a worktree's own git folder says that git is in the middle of something. */
const UNDER_WAY = /^(?:rebase-merge|rebase-apply|MERGE_HEAD|CHERRY_PICK_HEAD|REVERT_HEAD|sequencer|BISECT_LOG|index\.lock)$/

type Fault = Error & { readonly code?: unknown; readonly killed?: boolean; readonly stderr?: string }
type Answer = { readonly kind: 'done'; readonly out: string } | { readonly kind: 'failed'; readonly code: unknown; readonly why: string }
type Git = (dir: string, args: readonly string[], ms?: number) => Promise<Answer>

export function gitWorktrees(env: Environment): Worktrees {
  const git = gitWith(env)
  return { add: (request) => add(git, request), state: (path) => state(git, path), remove: (path) => remove(git, path) }
}

/** Nothing of the caller's own repository or configuration may come along, and a look must not take the index lock from who works there. */
function gitWith(env: Environment): Git {
  const clean = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')))
  const options = { cwd: '/', env: { ...clean, GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' }, maxBuffer: MAX_OUTPUT_BYTES }
  return async (dir, args, ms = ASK_MS) => {
    try {
      const running = promisify(execFile)('git', ['-C', dir, '-c', 'core.fsmonitor=false', ...args], { ...options, timeout: ms })
      running.child.stdin?.end()
      return { kind: 'done', out: (await running).stdout }
    } catch (error) {
      return { kind: 'failed', code: (error as Fault).code, why: sentence(error as Fault, ms) }
    }
  }
}

/** Hooks and filters write to the same stream: git's own complaint is the line that says so. */
function sentence(fault: Fault, ms: number): string {
  if (fault.code === 'ENOENT') return 'there is no git program on the PATH'
  if (fault.killed === true) return `git took longer than ${ms / 1000} s`
  const lines = linesOf(fault.stderr ?? '')
  const line = lines.find((text) => /^(?:fatal|error): /.test(text)) ?? lines[0] ?? `git did not say why: ${linesOf(fault.message)[0]}`
  return line.replace(/^(?:fatal|error): /, '')
}

const linesOf = (out: string): string[] => out.split('\n').filter((line) => line !== '')

async function add(git: Git, { repository, path, branch, reason }: WorktreeRequest): Promise<string | null> {
  const trouble = await nameTrouble(git, branch)
  if (trouble !== null) return trouble
  const known = await git(repository, ['show-ref', '--verify', '--quiet', `refs/heads/${branch}`])
  if (known.kind === 'failed' && known.code !== 1) return known.why
  const origin = known.kind === 'done' ? null : ((await onlyRemote(git, repository, branch)) ?? 'HEAD')
  if (origin === 'HEAD' && (await git(repository, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).kind === 'failed')
    return `${repository} has no commit yet from which a branch could be made`
  const taken = await reserve(path)
  if (taken !== null) return taken
  // The branch is made apart from the worktree, so that we know it to be ours if it has to go again.
  const made = origin === null ? null : await git(repository, ['branch', ...(origin === 'HEAD' ? [] : ['--track']), '--', branch, origin])
  const command = ['worktree', 'add', '--quiet', '--lock', '--reason', reason, '--', path, branch]
  const added = made?.kind === 'failed' ? made : await git(repository, command, TREE_MS)
  if (added.kind === 'done') return null
  await takeBack(git, repository, path)
  if (made?.kind === 'done') await git(repository, ['branch', '-d', '--', branch])
  return added.why
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

async function state(git: Git, path: string): Promise<WorktreeState> {
  const seat = await seatOf(git, path)
  if (typeof seat === 'string') return { kind: 'unknown', why: seat }
  const names = await readdir(seat.own).catch(() => null)
  if (names === null) return { kind: 'unknown', why: `${seat.own} cannot be read` }
  const busy = names.find((name) => UNDER_WAY.test(name))
  if (busy !== undefined) return { kind: 'dirty', why: `git is in the middle of something, or was stopped there (${busy})` }
  const reason = await readFile(join(seat.own, 'locked'), 'utf8').catch(() => null)
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
  const entries = status.out.split('\0').filter((entry) => entry !== '')
  const [ignored, open] = [entries.filter(isIgnored), entries.filter((entry) => !isIgnored(entry))]
  const untracked = open.filter((entry) => entry.startsWith('??')).length
  if (open.length > 0) return { kind: 'dirty', why: `uncommitted: ${open.length - untracked} changed, ${untracked} untracked` }
  const only = ignored.map((entry) => entry.slice(3)).filter((name) => !name.endsWith('/'))
  if (only.length > 0)
    return {
      kind: 'dirty',
      why: `git ignores ${only.slice(0, 3).join(', ')}${only.length > 3 ? ` and ${only.length - 3} more` : ''}, which may be only here`,
    }
  return headOf(git, path)
}

/** Whole folders that git ignores are made by tools, and can be made again; single files (`.env`) may be somebody's only copy. */
const isIgnored = (entry: string): boolean => entry.startsWith('!!')

/** Where git keeps what it knows of it. A worktree whose own .git is gone must not be taken for the repository around it. */
async function seatOf(git: Git, path: string): Promise<{ readonly own: string; readonly common: string } | string> {
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

/** Git alone would remove one in the middle of a rebase, or on a commit that nothing else holds. */
async function remove(git: Git, path: string): Promise<string | null> {
  const seen = await state(git, path)
  if (seen.kind !== 'clean') return seen.why
  const seat = await seatOf(git, path)
  if (typeof seat === 'string') return seat
  const reason = await readFile(join(seat.own, 'locked'), 'utf8').catch(() => null)
  const main = (args: readonly string[], ms?: number): Promise<Answer> => git(seat.common, ['--git-dir=.', ...args], ms)
  await main(['worktree', 'unlock', '--', path])
  const removed = await main(['worktree', 'remove', '--', path], TREE_MS)
  if (removed.kind === 'failed' && reason !== null) await main(['worktree', 'lock', '--reason', reason.trimEnd(), '--', path])
  if (removed.kind === 'failed') return removed.why
  if (seen.branch?.startsWith(BRANCH_PREFIX)) await main(['branch', '-d', '--', seen.branch])
  return null
}
