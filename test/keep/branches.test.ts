import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { gitBranches } from '../../src/keep/index.ts'

const root = mkdtempSync(join(tmpdir(), 'hf-branches-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const identity = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }
const env = { PATH: process.env['PATH'] ?? '', HOME: root, ...identity }
const git = (dir: string, ...args: string[]) => execFileSync('git', ['-C', dir, ...args], { env, encoding: 'utf8' }).trim()
const branches = gitBranches(env, join(root, 'looks'))
let serial = 0
let repository = ''
let worktree = ''
let base = ''

function commit(dir: string, name: string, text = 'x\n'): void {
  writeFileSync(join(dir, name), text)
  git(dir, 'add', '.')
  git(dir, 'commit', '--quiet', '-m', name)
}

beforeEach(() => {
  repository = join(root, `r${++serial}`)
  mkdirSync(repository)
  git(repository, 'init', '--quiet', '--initial-branch=main')
  commit(repository, 'first')
  base = git(repository, 'rev-parse', 'HEAD')
  worktree = join(root, `w${serial}`)
  git(repository, 'worktree', 'add', '--quiet', '-b', 'work', worktree)
})

describe('a branch', () => {
  test('began where it left what is checked out, also after both have moved on', async () => {
    commit(worktree, 'a')
    commit(repository, 'b')
    expect(await branches.base(repository, 'work')).toEqual({ commit: base })
    expect(await branches.look(repository, 'work', base)).toEqual({
      kind: 'seen',
      head: git(worktree, 'rev-parse', 'HEAD'),
      commits: 1,
      remote: null,
    })
  })
  test('that is not there, and a folder that is no repository, are unknown', async () => {
    expect(await branches.look(repository, 'other', base)).toEqual({ kind: 'unknown', why: 'there is no branch other' })
    expect((await branches.look(root, 'work', base)).kind).toBe('unknown')
    expect(await branches.base(repository, 'other')).toHaveProperty('why')
    expect(await branches.progress(root)).toBeNull()
    expect(await branches.changes(root)).toBeNull()
  })
  test('is pushed as it is, and never over the work of others', async () => {
    const remote = join(root, `remote${serial}.git`)
    git(root, 'init', '--quiet', '--bare', remote)
    git(repository, 'remote', 'add', 'origin', remote)
    commit(worktree, 'a')
    expect((await branches.look(repository, 'work', base)) as object).toMatchObject({ remote: 'origin' })
    expect(await branches.push(repository, 'origin', 'work')).toBeNull()
    expect(git(remote, 'rev-parse', 'work')).toBe(git(worktree, 'rev-parse', 'HEAD'))
    git(worktree, 'reset', '--quiet', '--hard', base)
    commit(worktree, 'other')
    expect(await branches.push(repository, 'origin', 'work')).toMatch(/reject|failed to push/)
    expect(git(remote, 'log', '-1', '--format=%s', 'work')).toBe('a')
  })
})

describe('the progress of a worktree', () => {
  test('changes with commits, files, their sizes and their times, and with nothing else', async () => {
    const seen = [await branches.progress(worktree)]
    const step = async (change: () => void): Promise<void> => {
      change()
      seen.push(await branches.progress(worktree))
    }
    await step(() => writeFileSync(join(worktree, 'new'), 'a'))
    await step(() => writeFileSync(join(worktree, 'new'), 'ab'))
    await step(() => utimesSync(join(worktree, 'new'), 1, 1))
    await step(() => commit(worktree, 'new', 'ab'))
    expect(new Set(seen).size).toBe(5)
    expect(await branches.progress(worktree)).toBe(seen.at(-1))
    expect(seen).not.toContain(null)
  })
  test('names the changed files', async () => {
    writeFileSync(join(worktree, 'first'), 'changed')
    writeFileSync(join(worktree, 'a b'), '')
    expect(await branches.changes(worktree)).toEqual(['first', 'a b'])
  })
})
