import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { gitWorktrees } from '../../src/keep/index.ts'
import { WORKTREE_REASON } from '../../src/model/index.ts'

const base = mkdtempSync(join(tmpdir(), 'hf-content-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const env = { PATH: process.env['PATH'], HOME: base, XDG_CONFIG_HOME: base }
const worktrees = gitWorktrees(env, join(base, 'looks'))
const git = (dir: string, ...args: string[]): string =>
  execFileSync('git', ['-C', dir, '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
    env: { ...env, GIT_EDITOR: 'true', LC_ALL: 'C' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
const write = (dir: string, name: string, text: string): void => writeFileSync(join(dir, name), text)
function commit(dir: string, name: string, text: string): string {
  write(dir, name, text)
  git(dir, 'add', name)
  git(dir, 'commit', '--quiet', '-m', `${name} ${text.slice(0, 10)}`)
  return git(dir, 'rev-parse', 'HEAD').trim()
}

let serial = 0
/** A repository with `main`, and a worktree of ours on a branch of ours. */
async function begun(): Promise<{ repo: string; path: string; branch: string; first: string }> {
  const repo = join(base, `r${++serial}`)
  mkdirSync(repo)
  git(repo, 'init', '--quiet', '--initial-branch=main')
  write(repo, '.gitignore', 'ignored\n')
  git(repo, 'add', '.')
  const first = commit(repo, 'a', 'one\ntwo\nthree\nfour\nfive\n')
  const [path, branch] = [join(base, 'made', `w${serial}`), `holdfast/x${serial}`]
  expect(await worktrees.add({ repository: repo, path, branch, reason: `${WORKTREE_REASON}s` })).toBeNull()
  return { repo, path, branch, first }
}
const contentOf = (path: string, first: string | null = null) => worktrees.content(path, 'main', first)

test('a branch without commits of its own is in the target; with commits it is ahead, and they are counted', async () => {
  const { path, first } = await begun()
  expect(await contentOf(path)).toMatchObject({ kind: 'in-target', how: 'merged', commits: 0, files: 0 })
  commit(path, 'b', '1')
  commit(path, 'a', 'changed')
  write(path, 'c', 'not committed')
  expect(await contentOf(path, first)).toMatchObject({ kind: 'ahead', commits: 2, files: 3 })
})

test('a merged branch is in the target, and its commits are counted from its base', async () => {
  const { repo, path, branch, first } = await begun()
  commit(path, 'b', '1')
  git(repo, 'merge', '--quiet', '--no-ff', branch)
  expect(await contentOf(path, first)).toMatchObject({ kind: 'in-target', how: 'merged', commits: 1, files: 1 })
})

test('a squash merge is found by content: also when the target went on, and changed the same lines later', async () => {
  const { repo, path, branch } = await begun()
  commit(path, 'a', 'one\nTWO\nthree\nfour\nfive\n')
  commit(path, 'b', '1')
  commit(repo, 'a', 'one\ntwo\nthree\nfour\nFIVE\n')
  expect(await contentOf(path)).toMatchObject({ kind: 'ahead' })
  git(repo, 'merge', '--quiet', '--squash', branch)
  git(repo, 'commit', '--quiet', '-m', 'squashed')
  expect(await contentOf(path)).toMatchObject({ kind: 'in-target', how: 'squashed', commits: 2, files: 2 })
  commit(repo, 'a', 'one\nother\nthree\nfour\nFIVE\n')
  commit(repo, 'c', 'later')
  expect(await contentOf(path)).toMatchObject({ kind: 'in-target', how: 'squashed' })
  commit(path, 'b', '2')
  expect(await contentOf(path)).toMatchObject({ kind: 'ahead' })
})

test('what is not committed counts: the same content in the target holds it, other content does not', async () => {
  const { repo, path } = await begun()
  write(path, 'new', 'text')
  write(path, 'a', 'one\nTWO\nthree\nfour\nfive\n')
  expect(await contentOf(path)).toMatchObject({ kind: 'ahead', commits: 0, files: 2 })
  commit(repo, 'new', 'text')
  commit(repo, 'a', 'one\nTWO\nthree\nfour\nfive\n')
  expect(await contentOf(path)).toMatchObject({ kind: 'in-target', how: 'squashed' })
  write(path, 'new', 'other text')
  expect(await contentOf(path)).toMatchObject({ kind: 'ahead' })
})

test('a comparison leaves no trace: no object, no index, no folder', async () => {
  const { repo, path } = await begun()
  write(path, 'new', 'text that nobody committed')
  const before = [git(repo, 'count-objects'), git(path, 'status', '--porcelain')]
  expect(await contentOf(path)).toMatchObject({ kind: 'ahead' })
  expect([git(repo, 'count-objects'), git(path, 'status', '--porcelain')]).toEqual(before)
  expect(readdirSync(join(base, 'looks'))).toEqual([])
})

test('what cannot be compared is unknown: no such target, another repository inside, no git', async () => {
  const { path } = await begun()
  expect(await worktrees.content(path, 'nowhere', null)).toEqual({ kind: 'unknown', why: 'there is no branch nowhere to compare it with' })
  expect(await worktrees.content(path, '--help', null)).toMatchObject({ kind: 'unknown' })
  mkdirSync(join(path, 'inner'))
  git(join(path, 'inner'), 'init', '--quiet')
  commit(join(path, 'inner'), 'x', '1')
  expect(await contentOf(path)).toEqual({ kind: 'unknown', why: 'another repository lies in it' })
  const without = gitWorktrees({ ...env, PATH: '/nonexistent' }, join(base, 'looks'))
  expect(await without.content(path, 'main', null)).toMatchObject({ kind: 'unknown', why: expect.stringMatching(/no git program/) })
})

test('with its proof a squashed branch of ours goes with its worktree; what changed since the comparison stays', async () => {
  const { repo, path, branch } = await begun()
  commit(path, 'b', '1')
  git(repo, 'merge', '--quiet', '--squash', branch)
  git(repo, 'commit', '--quiet', '-m', 'squashed')
  const seen = await contentOf(path)
  if (seen.kind !== 'in-target') throw new Error(seen.kind)
  const proven = { seal: seen.seal, target: 'main' }
  write(path, 'b', '2')
  expect(await worktrees.remove(path)).toMatch(/^uncommitted/)
  expect(await worktrees.remove(path, proven)).toBe('it has changed since it was compared with main')
  expect(existsSync(path)).toBe(true)
  write(path, 'b', '1')
  expect(await worktrees.remove(path, proven)).toBeNull()
  expect([existsSync(path), await worktrees.branchAt(repo, branch)]).toEqual([false, null])
})

test('what was staged and then changed again is no mere content, and neither is what git ignores', async () => {
  const { path } = await begun()
  write(path, 'a', 'staged')
  git(path, 'add', 'a')
  write(path, 'a', 'and changed')
  expect(await worktrees.state(path)).toEqual({ kind: 'dirty', why: 'uncommitted: 1 changed, 0 untracked' })
  const other = await begun()
  write(other.path, 'new', '')
  write(other.path, 'ignored', 'SECRET=1')
  expect(await worktrees.state(other.path)).toEqual({ kind: 'dirty', why: 'uncommitted: 0 changed, 1 untracked' })
})
