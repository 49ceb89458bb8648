import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, inLab, type Lab, until } from './lab.ts'
import { onTerminal, type Terminal } from './terminal.ts'

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

type Place = { readonly repo: string; readonly path: string }

/** A repository on `main`, and an ended session `s` that has a worktree of it. */
async function begun(lab: Lab): Promise<Place> {
  const repo = join(lab.newDir(), 'repo')
  mkdirSync(repo)
  git(repo, 'init', '-q', '-b', 'main')
  git(repo, 'config', 'user.name', 'a')
  git(repo, 'config', 'user.email', 'a@b')
  commit(repo, '.gitignore', '.env\n')
  commit(repo, 'a', 'one\ntwo\nthree\n')
  await lab.ok(['run', '--session', 's', '--worktree', '--detach', '--', 'true'], { cwd: repo })
  await lab.hf(['wait', 's'])
  return { repo, path: join(lab.home, 'worktrees', 'repo-holdfast-s') }
}

function commit(dir: string, name: string, text: string): void {
  writeFileSync(join(dir, name), text)
  git(dir, 'add', '.')
  git(dir, 'commit', '-qm', `${name}: ${text.split('\n')[0]}`)
}

const unwrapped = (terminal: Terminal): string => terminal.screen().replaceAll('\n', '')

/** What must not change when something is refused. */
const stateOf = ({ repo, path }: Place): unknown[] => [
  git(repo, 'for-each-ref'),
  git(repo, 'status', '--porcelain'),
  git(path, 'status', '--porcelain'),
]

verifies('visible', 'the end of a session in a worktree names branch, commits and files, and how they come home', () =>
  inLab(async (lab) => {
    const { repo, path } = await begun(lab)
    const waited = await lab.hf(['wait', 's'])
    expect(waited.stderr).toContain('on branch holdfast/s there is nothing that main does not have')
    await lab.ok(['resume', 's', '--detach', '--', 'sleep', '1000'])
    commit(path, 'b', '1')
    writeFileSync(join(path, 'new'), '')
    expect(await lab.ok(['stop', 's'])).toContain(
      'on branch holdfast/s there are 1 commit and 2 changed files that main does not have (1 not committed); commit, then holdfast merge s brings them home',
    )
    commit(path, 'new', '2')
    await onTerminal(lab, ['sh', '-c', `'${COMMAND}' run --session s --dir '${path}' -- true; sleep 1000`], async (terminal) => {
      await until('the line', () => unwrapped(terminal).includes('holdfast merge s brings them home'))
    })
    expect(git(repo, 'status', '--porcelain')).toBe('')
  }),
)

verifies('innocent', 'merge brings the branch home by fast-forward or a merge commit; what it refuses has changed nothing', () =>
  inLab(async (lab) => {
    const place = await begun(lab)
    const { repo, path } = place
    const refused = async (pattern: RegExp): Promise<void> => {
      const before = stateOf(place)
      const { code, stderr } = await lab.hf(['merge', 's'])
      expect([code, stderr]).toEqual([75, expect.stringMatching(pattern)])
      expect(stateOf(place)).toEqual(before)
    }
    expect(await lab.ok(['merge', 's'])).toContain('main has all of holdfast/s already')
    commit(path, 'b', '1')
    expect(await lab.ok(['merge', 's'])).toMatch(/holdfast\/s is in main \(fast-forward\): 1 commit and 1 changed file.*stay; holdfast discard s/s)
    expect(git(repo, 'log', '-1', '--format=%p %s').trim()).toMatch(/^\w+ b: 1$/)
    commit(path, 'b', '2')
    commit(repo, 'c', '1')
    expect(JSON.parse(await lab.ok(['merge', 's', '--json']))).toMatchObject({
      result: 'merge-commit',
      branch: 'holdfast/s',
      into: 'main',
      commits: 1,
      files: 1,
    })
    expect([git(repo, 'show', 'main:b'), git(repo, 'show', 'main:c'), git(repo, 'log', '-1', '--format=%p').trim().split(' ').length]).toEqual([
      '2',
      '1',
      2,
    ])
    // Something that nobody committed, on either side; both changed the same line; somebody works there.
    writeFileSync(join(path, 'open'), '')
    await refused(/1 file that nobody committed: open.*holdfast resume s/s)
    commit(path, 'a', 'one\nTWO\nthree\n')
    writeFileSync(join(repo, 'c'), 'changed')
    await refused(/repo cannot take holdfast\/s: it has 1 changed file that nobody committed/)
    commit(repo, 'a', 'one\nother\nthree\n')
    await refused(/holdfast\/s and main changed the same lines; nothing was merged.*git -C .* merge holdfast\/s/s)
    git(repo, 'reset', '-q', '--hard', 'HEAD~1')
    await lab.ok(['run', '--session', 'main', '--dir', repo, '--detach', '--', 'sleep', '1000'])
    await refused(/repo: main works in it/)
    await lab.ok(['stop', 'main'])
    await lab.ok(['resume', 's', '--detach', '--', 'sleep', '1000'])
    await refused(/session s works in .*holdfast stop s/s)
    await lab.ok(['stop', 's'])
    // A hook of the person that says no is heard, and git is not left in the middle.
    mkdirSync(join(repo, '.git', 'hooks'), { recursive: true })
    writeFileSync(join(repo, '.git', 'hooks', 'pre-merge-commit'), '#!/bin/sh\necho "the hook said no" >&2\nexit 1\n', { mode: 0o755 })
    commit(repo, 'd', '1')
    await refused(/git did not merge holdfast\/s into main: the hook said no/)
    expect(existsSync(join(repo, '.git', 'MERGE_HEAD'))).toBe(false)
  }),
)

verifies('innocent', 'discard asks, keeps all that was there under a ref that it names, and refuses where somebody works', () =>
  inLab(async (lab) => {
    const { repo, path } = await begun(lab)
    commit(path, 'b', 'amended away')
    git(path, 'commit', '-q', '--amend', '-m', 'better')
    writeFileSync(join(path, 'a'), 'staged')
    git(path, 'add', 'a')
    writeFileSync(join(path, 'a'), 'and changed')
    writeFileSync(join(path, '.env'), 'SECRET=1')
    writeFileSync(join(path, 'new'), 'new')
    const before = git(repo, 'for-each-ref')
    const script = await lab.hf(['discard', 's'])
    expect([script.code, script.stderr]).toEqual([64, expect.stringMatching(/asks on a terminal.*discard s --yes/s)])
    await onTerminal(lab, ['sh', '-c', `'${COMMAND}' discard s; sleep 1000`], async (terminal) => {
      await until('the question', () => unwrapped(terminal).includes('[y/N]'))
      terminal.type(['n', 'Enter'])
      await until('the answer', () => unwrapped(terminal).includes('nothing was discarded'))
    })
    const visitor = lab.start(['-c', 'echo here; exec sleep 1000'], { command: '/bin/sh', cwd: path })
    await new Promise((done) => visitor.stdout?.once('data', done))
    const busy = await lab.hf(['discard', 's', '--yes'])
    expect([busy.code, busy.stderr]).toEqual([75, expect.stringContaining(`sleep (pid ${visitor.pid}) works in it`)])
    visitor.kill('SIGKILL')
    await new Promise((done) => visitor.once('exit', done))
    expect([git(repo, 'for-each-ref'), existsSync(path)]).toEqual([before, true])

    const told = await lab.ok(['discard', 's', '--yes'])
    const ref = /refs\/holdfast\/discarded\/s\/\S+/.exec(told)?.[0] ?? ''
    expect(existsSync(path)).toBe(false)
    expect(git(repo, 'branch', '--list', 'holdfast/*')).toBe('')
    const show = (name: string): string => git(repo, 'show', `${ref}:${name}`)
    expect(['a', 'b', 'new', '.env'].map(show)).toEqual(['and changed', 'amended away', 'new', 'SECRET=1'])
    const parents = git(repo, 'log', '-1', '--format=%P', ref).trim().split(' ')
    expect(parents.map((parent) => git(repo, 'log', '-1', '--format=%s', parent).trim()).toSorted()).toEqual([
      'b: amended away',
      'better',
      'holdfast: what was staged',
    ])
    expect(git(repo, 'show', `${parents.at(-1)}:a`)).toBe('staged')
    const again = await lab.hf(['discard', 's', '--yes'])
    expect([again.code, again.stderr]).toEqual([66, expect.stringContaining('is gone already')])
    const none = await lab.hf(['merge', 's'])
    expect([none.code, none.stderr]).toEqual([66, expect.stringContaining('no branch holdfast/s any more')])
  }),
)
