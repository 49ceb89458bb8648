import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { gitWorktrees } from '../../src/keep/index.ts'
import { WORKTREE_REASON } from '../../src/model/index.ts'

const base = mkdtempSync(join(tmpdir(), 'hf-worktrees-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const env = { PATH: process.env['PATH'], HOME: base, XDG_CONFIG_HOME: base }
const worktrees = gitWorktrees(env, join(base, 'looks'))
const REASON = `${WORKTREE_REASON}s1`

let serial = 0
const git = (dir: string, ...args: string[]): string =>
  execFileSync('git', ['-C', dir, ...args], { env: { ...env, GIT_EDITOR: 'true', LC_ALL: 'C' }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

function emptyRepository(): string {
  const dir = join(base, `r${++serial}`)
  mkdirSync(dir)
  git(dir, 'init', '--quiet', '--initial-branch=main')
  git(dir, 'config', 'user.name', 'a')
  git(dir, 'config', 'user.email', 'a@example.org')
  return dir
}

function commit(dir: string, name: string, text: string): void {
  writeFileSync(join(dir, name), text)
  git(dir, 'add', name)
  git(dir, 'commit', '--quiet', '-m', `${name} ${text}`)
}

function repository(): string {
  const dir = emptyRepository()
  writeFileSync(join(dir, '.gitignore'), 'ignored\n')
  git(dir, 'add', '.gitignore')
  commit(dir, 'a', '1')
  return dir
}

const place = (): string => join(base, 'made', `p${serial}`, `w${++serial}`)
async function added(branch = 'holdfast/x', dir = repository()): Promise<{ dir: string; path: string }> {
  const path = place()
  expect(await worktrees.add({ repository: dir, path, branch, reason: REASON })).toBeNull()
  return { dir, path }
}
const refused = (dir: string, path: string, branch: string): Promise<string | null> =>
  worktrees.add({ repository: dir, path, branch, reason: REASON })
const trees = (dir: string): string => git(dir, 'worktree', 'list', '--porcelain')
const branches = (dir: string): string[] => git(dir, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').trim().split('\n')

test('a new branch is made from HEAD, in a locked worktree whose parents are ours alone', async () => {
  const { dir, path } = await added()
  expect(trees(dir)).toContain(`worktree ${path}\nHEAD ${git(dir, 'rev-parse', 'HEAD')}branch refs/heads/holdfast/x\nlocked ${REASON}\n`)
  expect(readFileSync(join(path, 'a'), 'utf8')).toBe('1')
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
  expect(await worktrees.state(path)).toEqual({ kind: 'clean', branch: 'holdfast/x' })
})

test('an existing branch is taken as it is, also beside a tag of its name', async () => {
  const dir = repository()
  git(dir, 'branch', 'old')
  commit(dir, 'a', '2')
  git(dir, 'tag', 'old')
  git(dir, 'tag', 'new')
  git(dir, 'checkout', '--quiet', '-b', 'other', 'refs/heads/old')
  const { path } = await added('old', dir)
  expect(readFileSync(join(path, 'a'), 'utf8')).toBe('1')
  expect(await worktrees.state(path)).toEqual({ kind: 'clean', branch: 'old' })
  // Git by itself would check out a tag of that name, on no branch.
  const named = await added('new', dir)
  expect(await worktrees.state(named.path)).toEqual({ kind: 'clean', branch: 'new' })
  expect(readFileSync(join(named.path, 'a'), 'utf8')).toBe('1')
})

test('a branch that exactly one remote has is followed', async () => {
  const upstream = repository()
  git(upstream, 'checkout', '--quiet', '-b', 'feature/one')
  commit(upstream, 'a', 'theirs')
  const dir = repository()
  git(dir, 'remote', 'add', 'origin', upstream)
  git(dir, 'fetch', '--quiet', 'origin')
  const { path } = await added('feature/one', dir)
  expect(readFileSync(join(path, 'a'), 'utf8')).toBe('theirs')
  expect(git(path, 'rev-parse', '--abbrev-ref', '@{upstream}')).toBe('origin/feature/one\n')
  git(dir, 'remote', 'add', 'second', upstream)
  git(dir, 'fetch', '--quiet', 'second')
  git(dir, 'worktree', 'remove', '--force', '--force', path)
  git(dir, 'branch', '-D', 'feature/one')
  const two = await added('feature/one', dir)
  expect(readFileSync(join(two.path, 'a'), 'utf8')).toBe('1')
})

test('a branch that is checked out elsewhere is refused with its place', async () => {
  const { dir, path } = await added()
  const second = place()
  expect(await refused(dir, second, 'holdfast/x')).toContain(`'${path}'`)
  expect(existsSync(second)).toBe(false)
  expect(branches(dir)).toEqual(['holdfast/x', 'main'])
  expect(await worktrees.state(path)).toMatchObject({ kind: 'clean' })
})

test('names that are no branch names are refused before anything is made', async () => {
  const dir = repository()
  git(dir, 'checkout', '--quiet', '-b', 'other')
  for (const name of ['-b', '--force', '', 'a..b', 'a b', 'HEAD', 'x.lock', '@{-1}', 'a\0b', '/x']) {
    const path = place()
    expect(await refused(dir, path, name), name).toMatch(name === 'a\0b' ? /null bytes/ : /is not a valid branch name$/)
    expect(existsSync(join(path, '..')), name).toBe(false)
  }
  expect(branches(dir)).toEqual(['main', 'other'])
})

test('no commit, no repository, no folder and no git are told apart', async () => {
  const path = place()
  expect(await refused(emptyRepository(), path, 'x')).toMatch(/has no commit yet/)
  expect(await refused(base, path, 'x')).toMatch(/^not a git repository/)
  expect(await refused(join(base, 'none'), path, 'x')).toMatch(/^cannot change to .*No such file/)
  const without = gitWorktrees({ ...env, PATH: '/nonexistent' }, join(base, 'looks'))
  expect(await without.add({ repository: repository(), path, branch: 'x', reason: REASON })).toMatch(/no git program/)
  const made = await added()
  expect(await without.state(made.path)).toMatchObject({ kind: 'unknown', why: expect.stringMatching(/no git program/) })
  expect(await without.remove(made.path)).toMatch(/no git program/)
  expect(existsSync(path)).toBe(false)
})

test('an add that fails half-way leaves nothing', async () => {
  const dir = repository()
  const before = trees(dir)
  const hook = join(dir, '.git', 'hooks', 'post-checkout')
  mkdirSync(join(dir, '.git', 'hooks'), { recursive: true })
  // The hook comes last, when all has been made.
  writeFileSync(hook, `#!/bin/sh\ntest -f a && echo 'the hook said no' >&2\nexit 1\n`)
  chmodSync(hook, 0o755)
  const path = place()
  expect(await refused(dir, path, 'holdfast/x')).toBe('the hook said no')
  expect(existsSync(path)).toBe(false)
  expect(trees(dir)).toBe(before)
  expect(branches(dir)).toEqual(['main'])
  git(dir, 'branch', 'kept')
  expect(await refused(dir, path, 'kept')).toBe('the hook said no')
  expect(trees(dir)).toBe(before)
  expect(branches(dir)).toEqual(['kept', 'main'])
})

test('what was there before is not touched', async () => {
  const dir = repository()
  const path = join(base, `full${++serial}`)
  mkdirSync(path)
  expect(await refused(dir, path, 'x')).toBe(`${path} already exists`)
  expect(existsSync(path)).toBe(true)
})

test('one of ours whose folder somebody deleted keeps neither its place nor its branch; others that are missing are left alone', async () => {
  const dir = repository()
  const { path } = await added('y', dir)
  const beside = join(path, '..', 'beside')
  expect(await worktrees.add({ repository: dir, path: beside, branch: 'z', reason: REASON })).toBeNull()
  for (const gone of [path, beside]) rmSync(gone, { recursive: true })
  expect(await worktrees.add({ repository: dir, path, branch: 'x', reason: REASON })).toBeNull()
  expect(trees(dir)).toContain(`worktree ${beside}\n`)
  expect(await worktrees.add({ repository: dir, path: `${path}-2`, branch: 'z', reason: REASON })).toBeNull()
  expect(trees(dir)).not.toContain(`worktree ${beside}\n`)
})

test('one whose maker died is half made, and can go; so is one whose remover died', async () => {
  const dir = repository()
  const { path } = await added('y', dir)
  const own = git(path, 'rev-parse', '--absolute-git-dir').trim()
  writeFileSync(join(own, 'locked'), 'initializing')
  rmSync(join(path, 'a'))
  expect(await worktrees.state(path)).toEqual({ kind: 'half' })
  expect(await worktrees.remove(path)).toBeNull()
  expect(trees(dir)).not.toContain(path)
  for (const empty of [place(), join(base, '.removed-x')]) {
    mkdirSync(empty, { recursive: true })
    expect(await worktrees.remove(empty)).toBeNull()
    expect(existsSync(empty)).toBe(false)
  }
})

test('files that git was told not to look at, and commits that only its own history names, are work', async () => {
  for (const bit of ['--assume-unchanged', '--skip-worktree']) {
    const { path } = await added()
    git(path, 'update-index', bit, 'a')
    writeFileSync(join(path, 'a'), 'work')
    expect(await worktrees.remove(path)).toContain('told not to look at')
  }
  const { path } = await added()
  git(path, 'checkout', '--quiet', '--detach')
  commit(path, 'a', 'lonely')
  git(path, 'checkout', '--quiet', 'holdfast/x')
  expect(await worktrees.remove(path)).toContain('no branch or tag holds')
  // What was amended away is where everybody would look for it: in the history of its branch.
  const other = await added()
  commit(other.path, 'a', 'first')
  git(other.path, 'commit', '--quiet', '--amend', '-m', 'better')
  expect(await worktrees.state(other.path)).toMatchObject({ kind: 'clean' })
})

test('changed and untracked files are work; of what git ignores, single files may be, whole folders are not', async () => {
  const { path } = await added()
  mkdirSync(join(path, 'ignored'))
  writeFileSync(join(path, 'ignored', 'x'), '')
  expect(await worktrees.state(path)).toEqual({ kind: 'clean', branch: 'holdfast/x' })
  rmSync(join(path, 'ignored'), { recursive: true })
  writeFileSync(join(path, 'ignored'), 'SECRET=1')
  expect(await worktrees.state(path)).toEqual({ kind: 'dirty', why: 'git ignores ignored, which may be only here' })
  expect(await worktrees.remove(path)).toContain('git ignores ignored')
  rmSync(join(path, 'ignored'))
  writeFileSync(join(path, 'new'), '')
  expect(await worktrees.state(path)).toEqual({ kind: 'dirty', why: 'uncommitted: 0 changed, 1 untracked', content: true })
  git(path, 'mv', 'a', 'b')
  writeFileSync(join(path, '.gitignore'), 'ignored\n#\n')
  expect(await worktrees.state(path)).toEqual({ kind: 'dirty', why: 'uncommitted: 3 changed, 1 untracked', content: true })
})

test('a lock of somebody else is a wish that it stays', async () => {
  const { dir, path } = await added()
  git(dir, 'worktree', 'unlock', path)
  expect(await worktrees.state(path)).toMatchObject({ kind: 'clean' })
  git(dir, 'worktree', 'lock', '--reason', 'mine', path)
  expect(await worktrees.remove(path)).toContain('somebody locked it (git worktree lock): mine')
})

test('the middle of a rebase is work, although nothing is changed', async () => {
  const { path } = await added()
  commit(path, 'b', '1')
  git(path, '-c', 'sequence.editor=sed -i 1ibreak', 'rebase', '--quiet', '-i', 'HEAD~1')
  expect(git(path, 'status', '--porcelain')).toBe('')
  expect(await worktrees.state(path)).toMatchObject({ kind: 'dirty', why: expect.stringContaining('rebase-merge') })
  expect(await worktrees.remove(path)).toContain('rebase-merge')
  git(path, 'rebase', '--continue')
  expect(await worktrees.state(path)).toEqual({ kind: 'clean', branch: 'holdfast/x' })
})

test.each(['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'BISECT_LOG', 'rebase-apply', 'index.lock'])(
  '%s is the middle of something',
  async (name) => {
    const { path } = await added()
    writeFileSync(join(git(path, 'rev-parse', '--absolute-git-dir').trim(), name), '')
    expect(await worktrees.state(path)).toMatchObject({ kind: 'dirty', why: expect.stringContaining(name) })
  },
)

test('a detached commit counts when nothing else holds it, and a stash holds nothing', async () => {
  const { path } = await added()
  git(path, 'checkout', '--quiet', '--detach')
  expect(await worktrees.state(path)).toEqual({ kind: 'clean', branch: null })
  commit(path, 'a', 'own')
  writeFileSync(join(path, 'a'), 'more')
  git(path, 'stash')
  expect(await worktrees.state(path)).toMatchObject({ kind: 'dirty', why: expect.stringMatching(/no branch or tag/) })
  expect(await worktrees.remove(path)).toMatch(/no branch or tag/)
  expect(existsSync(path)).toBe(true)
  git(path, 'tag', 'kept')
  expect(await worktrees.state(path)).toEqual({ kind: 'clean', branch: null })
})

test('without its repository, or with a broken or missing .git, it is unknown', async () => {
  const { dir, path } = await added()
  expect(await worktrees.state(join(path, 'none'))).toMatchObject({ kind: 'unknown' })
  const inner = join(dir, 'inner')
  await added('z', dir)
  expect(await worktrees.add({ repository: dir, path: inner, branch: 'inner', reason: REASON })).toBeNull()
  rmSync(join(inner, '.git'))
  expect(await worktrees.state(inner)).toMatchObject({ kind: 'unknown', why: `${inner} is not the top of a worktree` })
  expect(await worktrees.remove(inner)).toMatch(/not the top/)
  expect(existsSync(inner)).toBe(true)
  rmSync(dir, { recursive: true })
  expect(await worktrees.state(path)).toMatchObject({ kind: 'unknown', why: expect.stringMatching(/^not a git repository/) })
  expect(await worktrees.remove(path)).toMatch(/^not a git repository/)
  writeFileSync(join(path, '.git'), 'nonsense')
  expect(await worktrees.state(path)).toMatchObject({ kind: 'unknown', why: expect.stringMatching(/^invalid gitfile/) })
  expect(existsSync(join(path, 'a'))).toBe(true)
})

test('a clean one goes, with the branch that is ours and holds nothing', async () => {
  const { dir, path } = await added()
  mkdirSync(join(path, 'ignored'))
  writeFileSync(join(path, 'ignored', 'x'), '')
  const other = await added('theirs', dir)
  expect(await worktrees.remove(path)).toBeNull()
  expect(existsSync(path)).toBe(false)
  expect(trees(dir)).not.toContain(path)
  expect(branches(dir)).toEqual(['main', 'theirs'])
  git(dir, 'worktree', 'unlock', other.path)
  expect(await worktrees.remove(other.path)).toBeNull()
  expect(trees(dir)).not.toContain(other.path)
  expect(branches(dir)).toEqual(['main', 'theirs'])
})

test('a branch of ours with commits of its own stays', async () => {
  const { dir, path } = await added()
  commit(path, 'a', 'own')
  expect(await worktrees.remove(path)).toBeNull()
  expect(existsSync(path)).toBe(false)
  expect(git(dir, 'show', 'holdfast/x:a')).toBe('own')
})

test('one with work in it stays, locked as it was', async () => {
  const { dir, path } = await added()
  writeFileSync(join(path, 'new'), 'work')
  expect(await worktrees.remove(path)).toBe('uncommitted: 0 changed, 1 untracked')
  expect(readFileSync(join(path, 'new'), 'utf8')).toBe('work')
  expect(trees(dir)).toContain(`locked ${REASON}\n`)
})

test('what git itself would refuse stays, locked as it was: submodules, and the main working tree', async () => {
  const dir = repository()
  git(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', repository(), 'sub')
  git(dir, 'commit', '--quiet', '-m', 'sub')
  const { path } = await added('holdfast/x', dir)
  git(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init')
  expect(await worktrees.remove(path)).toMatch(/submodules/)
  expect(existsSync(join(path, 'sub', 'a'))).toBe(true)
  expect(trees(dir)).toContain(`locked ${REASON}\n`)
  expect(branches(dir)).toContain('holdfast/x')
  expect(await worktrees.remove(dir)).toMatch(/main working tree/)
  expect(existsSync(dir)).toBe(true)
})

test('a look does not write the index, even where git would refresh it', async () => {
  const { path } = await added()
  const index = join(git(path, 'rev-parse', '--absolute-git-dir').trim(), 'index')
  utimesSync(join(path, 'a'), 1000, 1000)
  utimesSync(index, 2000, 2000)
  expect(await worktrees.state(path)).toMatchObject({ kind: 'clean' })
  expect(statSync(index).mtimeMs).toBe(2_000_000)
  git(path, 'status')
  expect(statSync(index).mtimeMs).not.toBe(2_000_000)
})

test('git variables of the caller do not leak', async () => {
  const other = repository()
  const before = [trees(other), branches(other), readFileSync(join(other, '.git', 'index'))]
  const led = { ...env, GIT_DIR: join(other, '.git'), GIT_WORK_TREE: other, GIT_INDEX_FILE: join(other, '.git', 'index'), GIT_CONFIG_GLOBAL: '/none' }
  const misled = gitWorktrees(led, join(base, 'looks'))
  const dir = repository()
  const path = place()
  expect(await misled.add({ repository: dir, path, branch: 'holdfast/x', reason: REASON })).toBeNull()
  expect(trees(dir)).toContain(path)
  writeFileSync(join(other, 'new'), '')
  expect(await misled.state(path)).toEqual({ kind: 'clean', branch: 'holdfast/x' })
  expect(await misled.remove(path)).toBeNull()
  expect(trees(dir)).not.toContain(path)
  expect([trees(other), branches(other), readFileSync(join(other, '.git', 'index'))]).toEqual(before)
})
