import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { gitWorktrees } from '../../src/keep/index.ts'
import { WORKTREE_REASON } from '../../src/model/index.ts'
import { age, gitIn, setTraps, TRAPPED, trapSubmodule, traps } from '../fixtures/git-traps.ts'

const base = mkdtempSync(join(tmpdir(), 'hf-looking-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const env = { PATH: process.env['PATH'], HOME: base, XDG_CONFIG_HOME: join(base, 'xdg') }
const looks = join(base, 'looks')
const worktrees = gitWorktrees(env, looks)
const git = (dir: string, ...args: string[]): string => gitIn(env, dir, ...args)

let serial = 0
function repository(names: readonly string[] = TRAPPED, ...how: readonly string[]): string {
  const dir = join(base, `r${++serial}`)
  mkdirSync(dir)
  git(dir, 'init', '--quiet', '--initial-branch=main', ...how)
  writeFileSync(join(dir, '.gitignore'), 'ignored\n')
  for (const name of names) writeFileSync(join(dir, name), `${name}\n`)
  git(dir, 'add', '.')
  git(dir, 'commit', '--quiet', '-m', 'first')
  return dir
}

async function worktree(dir = repository()): Promise<{ dir: string; path: string }> {
  const path = join(base, 'made', `w${++serial}`)
  expect(await worktrees.add({ repository: dir, path, branch: `holdfast/x${serial}`, reason: `${WORKTREE_REASON}s` })).toBeNull()
  return { dir, path }
}

/** A worktree full of traps, in a repository of its own. */
async function trapped(): Promise<{ dir: string; path: string; sprung: () => string[] }> {
  const made = await worktree()
  const set = traps(join(base, `t${++serial}`))
  setTraps(env, made.path, set)
  return { ...made, sprung: set.sprung }
}

test('the traps are real: git itself runs into them', async () => {
  const { path, sprung } = await trapped()
  git(path, 'status')
  git(path, '-c', 'core.fsmonitor=false', 'status')
  expect(sprung()).toEqual(
    expect.arrayContaining(
      'filter-clean filter-process included-clean included-if-clean odd-name-clean worktree-clean worktree-fsmonitor hookspath-post-index-change'.split(
        ' ',
      ),
    ),
  )
})

test('a look at a worktree full of traps runs none of them, and is right', async () => {
  const { path, sprung } = await trapped()
  const clean = { kind: 'clean', branch: expect.stringMatching(/^holdfast\/x/) }
  expect([await worktrees.state(path), sprung()]).toEqual([clean, []])
  for (const [name, why] of [
    ['a', 'uncommitted: 1 changed, 0 untracked'],
    ['new', 'uncommitted: 0 changed, 1 untracked'],
    ['ignored', 'git ignores ignored, which may be only here'],
  ] as const) {
    writeFileSync(join(path, name), 'work')
    expect(await worktrees.state(path), name).toMatchObject({ kind: 'dirty', why: expect.stringContaining(why) })
    expect(await worktrees.content(path, 'main', null), name).toMatchObject({ kind: name === 'ignored' ? 'in-target' : 'ahead' })
    if (name === 'a') writeFileSync(join(path, name), 'a\n')
    else rmSync(join(path, name))
    age(path, TRAPPED)
  }
  expect([await worktrees.state(path), sprung()]).toEqual([clean, []])
})

test('neither does a worktree that is discarded with all that lies in it: what is kept is what the files hold', async () => {
  const { dir, path, sprung } = await trapped()
  writeFileSync(join(path, 'a'), 'work')
  writeFileSync(join(path, 'ignored'), 'SECRET=1')
  const ref = 'refs/holdfast/discarded/s/now'
  expect(await worktrees.discard(path, ref)).toEqual({ kind: 'discarded', branch: expect.stringMatching(/^holdfast\/x/) })
  expect([sprung(), git(dir, 'for-each-ref', 'refs/heads/holdfast')]).toEqual([[], ''])
  const kept = (name: string): string => git(dir, '-c', 'core.hooksPath=/dev/null', 'cat-file', 'blob', `${ref}:${name}`)
  expect(['a', 'ignored'].map(kept)).toEqual(['work', 'SECRET=1'])
})

test('commits that nothing else holds are seen without a trap; so is a removal', async () => {
  const { dir, path, sprung } = await trapped()
  const [lonely = ''] = git(path, '-c', 'core.hooksPath=/dev/null', 'commit-tree', '-m', 'x', 'HEAD^{tree}').split('\n')
  const head = join(git(path, 'rev-parse', '--absolute-git-dir').trim(), 'HEAD')
  const before = readFileSync(head)
  writeFileSync(head, `${lonely}\n`)
  expect(await worktrees.state(path)).toEqual({ kind: 'dirty', why: expect.stringContaining('no branch or tag holds') })
  writeFileSync(head, before)
  expect(await worktrees.remove(path)).toBeNull()
  expect(readdirSync(join(path, '..'))).not.toContain(path.slice(path.lastIndexOf('/') + 1))
  expect(readdirSync(dir)).toContain('a')
  expect(git(dir, 'for-each-ref', 'refs/heads/holdfast')).toBe('')
  expect(sprung()).toEqual([])
})

test('a missing object is not fetched by a look', async () => {
  const { dir, path, sprung } = await trapped()
  const tree = git(path, 'rev-parse', 'HEAD^{tree}').trim()
  rmSync(join(dir, '.git', 'objects', tree.slice(0, 2), tree.slice(2)))
  expect([await worktrees.state(path), sprung()]).toEqual([{ kind: 'unknown', why: expect.any(String) }, []])
})

test('submodules are not entered: one that is there keeps the worktree, one that is not does not', async () => {
  const dir = repository()
  git(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', repository(), 'sub')
  git(dir, 'commit', '--quiet', '-m', 'sub')
  const { path } = await worktree(dir)
  expect(await worktrees.state(path)).toMatchObject({ kind: 'clean' })
  git(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init')
  const set = traps(join(base, `t${++serial}`))
  trapSubmodule(env, path, set)
  // Git keeps those of a worktree in its own folder; an agent may have moved it away, and its link with it.
  const own = git(path, 'rev-parse', '--absolute-git-dir').trim()
  const moved = join(base, `m${serial}`)
  git(path, 'config', '--file', join(own, 'modules', 'sub', 'config'), 'core.worktree', join(path, 'sub'))
  renameSync(join(own, 'modules'), moved)
  writeFileSync(join(path, 'sub', '.git'), `gitdir: ${join(moved, 'sub')}\n`)
  writeFileSync(join(path, 'sub', 'a'), 'work')
  expect([await worktrees.state(path), set.sprung()]).toEqual([{ kind: 'dirty', why: 'it has submodules, which may hold work of their own' }, []])
})

test('a filter of the user’s own is not run either; what it hides is told, and git’s own status settles it', async () => {
  const set = traps(join(base, `t${++serial}`))
  const dir = repository(['.gitattributes', 'big'])
  git(dir, 'config', '--global', 'filter.lfs.clean', `'${set.program('lfs')}' >/dev/null; echo pointer`)
  git(dir, 'config', '--global', 'filter.lfs.smudge', 'cat >/dev/null; echo large')
  try {
    writeFileSync(join(dir, '.gitattributes'), 'big filter=lfs\n')
    git(dir, 'add', '--renormalize', '.')
    git(dir, 'commit', '--quiet', '-am', 'lfs')
    const { path } = await worktree(dir)
    utimesSync(join(path, 'big'), 1000, 1000)
    rmSync(set.seen, { recursive: true })
    mkdirSync(set.seen)
    expect(await worktrees.state(path)).toMatchObject({ kind: 'dirty', why: expect.stringMatching(/1 changed.*through a filter.*git -C .* status/) })
    expect(set.sprung()).toEqual([])
    git(path, 'status')
    expect(set.sprung()).toEqual(['lfs'])
    expect(await worktrees.state(path)).toMatchObject({ kind: 'clean' })
  } finally {
    rmSync(join(base, '.gitconfig'), { force: true })
  }
})

test('settings that are only data still count: excluded files of the user, modes of files, sparse worktrees', async () => {
  const { path } = await worktree()
  mkdirSync(join(path, '.idea'))
  writeFileSync(join(path, '.idea', 'x'), '')
  expect(await worktrees.state(path)).toMatchObject({ kind: 'dirty' })
  try {
    mkdirSync(join(base, 'xdg', 'git'), { recursive: true })
    writeFileSync(join(base, 'xdg', 'git', 'ignore'), '.idea\n')
    expect(await worktrees.state(path)).toMatchObject({ kind: 'clean' })
    rmSync(join(base, 'xdg'), { recursive: true })
    writeFileSync(join(base, 'mine "x'), '.idea\n')
    git(path, 'config', '--global', 'core.excludesFile', '~/mine "x')
    expect(await worktrees.state(path)).toMatchObject({ kind: 'clean' })
  } finally {
    rmSync(join(base, '.gitconfig'), { force: true })
  }
  rmSync(join(path, '.idea'), { recursive: true })
  chmodSync(join(path, 'a'), 0o755)
  expect(await worktrees.state(path)).toMatchObject({ kind: 'dirty' })
  git(path, 'config', 'core.fileMode', 'false')
  expect(await worktrees.state(path)).toMatchObject({ kind: 'clean' })
  git(path, 'sparse-checkout', 'set', '--no-cone', 'a')
  expect(await worktrees.state(path)).toMatchObject({ kind: 'clean' })
})

test('a file with a strange name that git was told not to look at is work', async () => {
  const { path } = await worktree(repository(['ä\n"b']))
  git(path, 'update-index', '--assume-unchanged', 'ä\n"b')
  writeFileSync(join(path, 'ä\n"b'), 'work')
  expect(await worktrees.remove(path)).toContain('told not to look at')
})

test('neither variables of the caller nor another working tree in the configuration lead a look astray', async () => {
  const { dir, path, sprung } = await trapped()
  const set = traps(join(base, `t${++serial}`))
  const trace = join(base, 'trace')
  const variables = {
    ...env,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'filter.evil.clean',
    GIT_CONFIG_VALUE_0: set.program('variable'),
    GIT_TRACE: trace,
    GIT_TRACE2: trace,
    GIT_TRACE_SETUP: trace,
    GIT_EXTERNAL_DIFF: set.program('external'),
    GIT_DIR: '/',
    GIT_EXEC_PATH: base,
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor=${set.program('parameter')}'`,
    GIT_SSH_COMMAND: set.program('ssh'),
    GIT_PAGER: set.program('pager'),
  }
  const led = gitWorktrees(variables, looks)
  git(dir, 'config', 'core.worktree', base)
  expect(await led.state(path)).toMatchObject({ kind: 'clean' })
  writeFileSync(join(path, 'new'), '')
  expect(await led.state(path)).toMatchObject({ kind: 'dirty', why: 'uncommitted: 0 changed, 1 untracked' })
  expect([sprung(), set.sprung(), existsSync(trace)]).toEqual([[], [], false])
})

test.each(['HEAD', 'index', 'logs/HEAD', 'locked', 'commondir'])('a pipe in the place of %s keeps nobody waiting, and is unknown', async (name) => {
  const { path } = await worktree()
  const at = join(git(path, 'rev-parse', '--absolute-git-dir').trim(), name)
  rmSync(at)
  execFileSync('mkfifo', [at])
  const before = performance.now()
  expect(await worktrees.state(path)).toMatchObject({ kind: 'unknown' })
  expect(performance.now() - before).toBeLessThan(10_000)
})

test('a look leaves no folder behind, also where git fails, and removes what one left that was killed', async () => {
  const { path } = await worktree()
  for (const name of ['look-old', 'look-young']) mkdirSync(join(looks, name, 'x'), { recursive: true })
  utimesSync(join(looks, 'look-old'), 1000, 1000)
  expect(await worktrees.state(path)).toMatchObject({ kind: 'clean' })
  expect(statSync(looks).mode & 0o777).toBe(0o700)
  writeFileSync(join(git(path, 'rev-parse', '--absolute-git-dir').trim(), 'index'), 'nonsense')
  expect(await worktrees.state(path)).toMatchObject({ kind: 'unknown' })
  expect(readdirSync(looks)).toEqual(['look-young'])
  rmSync(join(looks, 'look-young'), { recursive: true })
  writeFileSync(join(base, 'file'), '')
  const nowhere = gitWorktrees(env, join(base, 'file'))
  expect(await nowhere.state(path)).toMatchObject({ kind: 'unknown', why: expect.stringContaining('no folder for a look') })
})

test('a repository with another kind of object names is seen as it is; a format that nobody knows is unknown', async () => {
  const { dir, path } = await worktree(repository(['a'], '--object-format=sha256'))
  expect(await worktrees.state(path)).toMatchObject({ kind: 'clean' })
  writeFileSync(join(path, 'a'), 'work')
  expect(await worktrees.state(path)).toMatchObject({ kind: 'dirty', why: expect.stringContaining('1 changed') })
  git(dir, 'config', 'extensions.refStorage', 'strange')
  expect(await worktrees.state(path)).toMatchObject({ kind: 'unknown' })
})
