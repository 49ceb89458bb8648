import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, inLab, isAlive, type Lab, readOr, until } from './lab.ts'

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
  })

function repository(lab: Lab, name = 'repo'): string {
  const path = join(lab.newDir(), name)
  mkdirSync(join(path, 'pkg'), { recursive: true })
  git(path, 'init', '-q', '-b', 'main')
  writeFileSync(join(path, 'pkg', 'file'), 'one\n')
  git(path, 'add', '.')
  git(path, 'commit', '-qm', 'first')
  return path
}

const start = (lab: Lab, session: string, cwd: string, ...more: string[]) =>
  lab.hf(['run', '--session', session, '--detach', ...more, '--', 'sleep', '1000'], { cwd })
const worktreeOf = (lab: Lab, name: string): string => join(lab.home, 'worktrees', name)
const pruned = async (lab: Lab): Promise<string> => lab.ok(['prune'])

verifies('lock-life', 'a worktree of its own beside a held repository: locked by git too, named by ls, neighbours shown on both', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    expect((await start(lab, 'a', repo)).code).toBe(0)
    const refused = await start(lab, 'b', join(repo, 'pkg'))
    expect([refused.code, refused.stderr]).toEqual([75, expect.stringMatching(/is inside .*session a.*--worktree.*--share/s)])
    const started = await start(lab, 'b', join(repo, 'pkg'), '--worktree')
    expect([started.code, started.stderr]).toEqual([0, expect.stringContaining(`a works in ${repo}, another worktree of the same repository`)])
    const path = worktreeOf(lab, 'repo-holdfast-b')
    expect(await lab.status('b')).toMatchObject({ dir: join(path, 'pkg'), worktree: { path, branch: 'holdfast/b', repository: repo } })
    expect(await lab.ok(['ls'])).toContain('worktree repo@holdfast/b')
    expect(git(repo, 'worktree', 'list', '--porcelain')).toContain('locked holdfast session b')
    expect(await lab.ok(['status', 'a', '--verbose'])).toContain(`neighbour    b in ${join(path, 'pkg')}`)
    // The same branch once more: it is there, and held.
    expect((await start(lab, 'c', repo, '--worktree=holdfast/b')).stderr).toContain('session b')
  }),
)

verifies('lock-life', 'linked worktrees of one repository do not conflict, wherever they lie; a folder around them does', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    git(repo, 'worktree', 'add', '-q', '.claude/worktrees/x')
    expect((await start(lab, 'x', join(repo, '.claude/worktrees/x'))).code).toBe(0)
    expect((await start(lab, 'main', repo)).code).toBe(0)
    expect((await start(lab, 'y', join(repo, '.claude/worktrees/x/pkg'))).code).toBe(75)
    expect((await start(lab, 'around', join(repo, '..'))).code).toBe(75)
    const other = repository(lab, 'other')
    expect((await start(lab, 'other', other)).code).toBe(0)
    const neighbours = JSON.parse(await lab.ok(['locks', '--json'])) as { session: string; neighbours: string[] }[]
    expect(neighbours.map(({ session, neighbours: near }) => [session, near.map((one) => one.split(' ')[0])]).toSorted()).toEqual([
      ['main', ['x']],
      ['other', []],
      ['x', ['main']],
    ])
  }),
)

verifies('lock-life', 'an agent in the home directory holds everything below, says so, and leaves --share and --worktree', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    const home = join(repo, '..', '..')
    const env = { HOME: home }
    const wide = await lab.hf(['run', '--session', 'wide', '--dir', home, '--detach', '--', 'sleep', '1000'], { env })
    expect([wide.code, wide.stderr]).toEqual([0, expect.stringMatching(/everything below.*--share or --worktree/)])
    const refused = await start(lab, 's', repo)
    expect([refused.code, refused.stderr]).toEqual([75, expect.stringMatching(/session wide.*--worktree.*--share/s)])
    // Our own home lies in there as well, and a worktree of ours is apart from all that.
    expect((await start(lab, 's', repo, '--worktree')).code).toBe(0)
    expect((await start(lab, 't', repo, '--share')).code).toBe(0)
  }),
)

verifies('bounded', 'prune removes a worktree only when it is clean and nobody works in it; what is in the way is named', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    for (const session of ['used', 'dirty', 'visited', 'clean', 'kept'])
      expect((await start(lab, session, repo, `--worktree${session === 'kept' ? '=kept' : ''}`)).code, session).toBe(0)
    const at = (session: string): string => worktreeOf(lab, session === 'kept' ? 'repo-kept' : `repo-holdfast-${session}`)
    for (const session of ['dirty', 'visited', 'clean', 'kept']) await lab.ok(['stop', session])
    writeFileSync(join(at('dirty'), 'new'), '')
    writeFileSync(join(at('kept'), 'pkg', 'file'), 'two\n')
    git(at('kept'), 'commit', '-qam', 'second')
    const visitor = lab.start(['-c', 'echo $$; exec sleep 1000'], { command: '/bin/sh', cwd: at('visited') })
    await new Promise((done) => visitor.stdout?.once('data', done))
    const dry = await lab.ok(['prune', '--dry-run'])
    expect(dry).toContain(at('clean'))
    expect(existsSync(at('clean'))).toBe(true)
    const told = await pruned(lab)
    expect(told).toMatch(new RegExp(`kept ${at('used')} \\(used works in it\\)`))
    expect(told).toMatch(new RegExp(`kept ${at('dirty')} \\(.*1 untracked`))
    expect(told).toMatch(new RegExp(`kept ${at('visited')} \\(sleep \\(pid ${visitor.pid}\\) works in it\\)`))
    expect(['used', 'dirty', 'visited', 'clean', 'kept'].map((session) => existsSync(at(session)))).toEqual([true, true, true, false, false])
    // What was committed is where it was: on its branch. A branch of ours with nothing of its own is not left behind.
    expect(git(repo, 'log', '-1', '--format=%s', 'kept').trim()).toBe('second')
    expect(git(repo, 'branch', '--list', 'holdfast/clean')).toBe('')
    expect(isAlive(visitor.pid ?? 0)).toBe(true)
    visitor.kill('SIGKILL')
    // What was removed is made again from its branch, and status names that before.
    expect(await lab.ok(['status', 'clean'])).toContain(`of ${repo}, on holdfast/clean; it was removed, and resume makes it again`)
    for (const session of ['clean', 'kept']) {
      expect(await lab.hf(['resume', session, '--detach']), session).toMatchObject({ code: 0 })
      expect(await lab.status(session)).toMatchObject({ dir: at(session), worktree: { path: at(session), repository: repo } })
      await lab.ok(['stop', session])
    }
    expect(git(at('kept'), 'log', '-1', '--format=%s').trim()).toBe('second')
    // The branch is checked out elsewhere, or the repository is gone: no words lead to a new conversation.
    git(repo, 'worktree', 'remove', '--force', '--force', at('kept'))
    git(repo, 'checkout', '-q', 'kept')
    const taken = await lab.hf(['resume', 'kept', '--detach'])
    expect([taken.code, taken.stderr]).toEqual([
      64,
      expect.stringMatching(/cannot be made again: 'kept' is already.*see to branch kept in .*resume kept --dir/s),
    ])
    rmSync(repo, { recursive: true })
    const lost = await lab.hf(['resume', 'kept', '--detach'])
    expect([lost.code, lost.stderr]).toEqual([66, expect.stringMatching(/on branch kept, was removed.*resume kept --dir/s)])
    expect(lost.stderr).not.toMatch(/holdfast run/)
  }),
)

test('a start that fails leaves no worktree; wrong names and places are told, and nothing of git’s comes along', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    const before = git(repo, 'worktree', 'list')
    const failed = await lab.hf(['run', '--session', 's', '--worktree', '--detach', '--', '/nonexistent'], { cwd: repo })
    expect(failed.code).toBe(66)
    for (const [more, cwd] of [
      ['--worktree=main', repo],
      ['--worktree=-x', repo],
      ['--worktree=a..b', repo],
      ['--worktree', lab.dir],
    ] as const)
      expect([more, (await start(lab, 's', cwd, more)).code]).toEqual([more, 64])
    await lab.ok(['run', '--session', 'live', '--dir', lab.dir, '--detach', '--', 'sleep', '1000'])
    const attached = lab.start(['run', '--session', 'live', '--worktree', '--attach', '--', 'x'], { cwd: repo })
    await new Promise<void>((followed) => attached.stderr?.on('data', (text: Buffer) => text.includes('following') && followed()))
    expect(existsSync(worktreeOf(lab, 'repo-holdfast-live'))).toBe(false)
    attached.kill('SIGKILL')
    const unclear = await lab.hf(['run', '--worktree', 'feat', 'sleep', '1'], { cwd: repo })
    expect([unclear.code, unclear.stderr]).toEqual([64, expect.stringContaining('--worktree=feat')])
    expect(git(repo, 'worktree', 'list')).toBe(before)
    const decoy = repository(lab, 'decoy')
    writeFileSync(join(repo, '.git', 'index.lock'), '')
    const env = { GIT_DIR: join(decoy, '.git'), GIT_WORK_TREE: decoy, GIT_INDEX_FILE: join(decoy, '.git', 'index') }
    const started = await lab.hf(
      [
        'run',
        '--session',
        's',
        '--worktree',
        '--detach',
        '--',
        'sh',
        '-c',
        'pwd >$FA_DIR/pwd; echo $PWD >$FA_DIR/PWD; env | grep -E "^GIT_(DIR|WORK_TREE|INDEX_FILE)=" >$FA_DIR/git; exec sleep 1000',
      ],
      {
        cwd: repo,
        env,
      },
    )
    expect(started.stderr).toBe('')
    expect(basename(((await lab.status('s')) as unknown as { dir: string }).dir)).toBe('repo-holdfast-s')
    expect(git(decoy, 'worktree', 'list').trim().split('\n')).toHaveLength(1)
    await until('the agent to speak', () => existsSync(join(lab.agentDir, 'git')))
    expect(readOr(join(lab.agentDir, 'PWD'))).toBe(readOr(join(lab.agentDir, 'pwd')))
    // Nor does the agent work in another checkout than the one it is in.
    expect(readOr(join(lab.agentDir, 'git'))).toBe('')
  }))

verifies('one-owner', 'of several who want a worktree of one branch at once, one has it, whole, and the others are refused by its name', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    const results = await Promise.all(Array.from({ length: 6 }, (_, index) => start(lab, `s${index}`, repo, '--worktree=raced')))
    const winner = results.findIndex(({ code }) => code === 0)
    expect(results.map(({ code }) => code).toSorted()).toEqual([0, 75, 75, 75, 75, 75])
    for (const [index, { stderr }] of results.entries()) if (index !== winner) expect(stderr).toContain(`session s${winner}`)
    const { pid } = await lab.status(`s${winner}`)
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe(worktreeOf(lab, 'repo-raced'))
    expect(git(worktreeOf(lab, 'repo-raced'), 'status', '--porcelain')).toBe('')
  }),
)

verifies('lock-life', 'prune and a start that meet in one worktree: nobody works in a deleted one', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    for (const delay of [0, 30, 60, 90, 120, 150]) {
      await lab.ok(['run', '--session', 'first', '--worktree=met', '--detach', '--', 'true'], { cwd: repo })
      await lab.hf(['wait', 'first'])
      const pruning = lab.hf(['prune'])
      await new Promise((next) => setTimeout(next, delay))
      const { code } = await start(lab, 'next', repo, '--worktree=met')
      await pruning
      if (code === 0) expect(readlinkSync(`/proc/${(await lab.status('next')).pid}/cwd`), String(delay)).toBe(worktreeOf(lab, 'repo-met'))
      await lab.hf(['stop', 'next'])
    }
  }),
)

verifies('lock-life', 'a home behind a link: what works in a worktree is seen, and it is an island all the same', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    mkdirSync(`${lab.home}-real`)
    symlinkSync(`${lab.home}-real`, lab.home)
    expect((await start(lab, 's', repo, '--worktree=x')).code).toBe(0)
    expect(await lab.ok(['ls'])).toContain('worktree repo@x')
    await lab.ok(['stop', 's'])
    const path = join(`${lab.home}-real`, 'worktrees', 'repo-x')
    const visitor = lab.start(['-c', 'echo $$; exec sleep 1000'], { command: '/bin/sh', cwd: path })
    await new Promise((done) => visitor.stdout?.once('data', done))
    expect(await pruned(lab)).toContain(`kept ${path}`)
    visitor.kill('SIGKILL')
  }),
)

verifies('lock-life', 'whoever dies over making a worktree leaves none that is half: the next start has it whole', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    mkdirSync(join(repo, 'many'))
    for (let index = 0; index < 3000; index++) writeFileSync(join(repo, 'many', String(index)), 'x')
    git(repo, 'add', '.')
    git(repo, 'commit', '-qm', 'many')
    for (const delay of [0, 20, 60]) {
      const child = lab.start(['run', '--session', 'dies', '--worktree=big', '--detach', '--', 'true'], { cwd: repo })
      await until('its folder', () => existsSync(worktreeOf(lab, 'repo-big')))
      await new Promise((next) => setTimeout(next, delay))
      for (const pid of [...childrenOf(child.pid ?? 0), child.pid ?? 0]) process.kill(pid, 'SIGKILL')
      expect((await start(lab, 'next', repo, '--worktree=big')).code).toBe(0)
      expect(git(worktreeOf(lab, 'repo-big'), 'status', '--porcelain')).toBe('')
      expect(readdirSync(join(worktreeOf(lab, 'repo-big'), 'many'))).toHaveLength(3000)
      await lab.ok(['stop', 'next'])
      expect(await pruned(lab)).toContain('removed')
    }
  }),
)

const childrenOf = (pid: number): number[] => readOr(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)

test('a branch whose worktree somebody deleted can be had again', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    expect((await start(lab, 'a', repo, '--worktree=br')).code).toBe(0)
    await lab.ok(['stop', 'a'])
    rmSync(worktreeOf(lab, 'repo-br'), { recursive: true })
    expect((await start(lab, 'b', repo, '--worktree=br')).code).toBe(0)
  }))

test('options may follow the branch, and the command may be told apart', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    const hf = (...args: string[]) => lab.hf(['run', ...args], { cwd: repo, command: COMMAND })
    expect((await hf('--worktree', 'one', '--session', 's1', '--detach', '--', 'true')).code).toBe(0)
    expect((await hf('--session', 's2', '--detach', '--worktree', 'two', '--', 'true')).code).toBe(0)
    expect((await hf('--session', 's3', '--detach', '--worktree', 'true')).code).toBe(0)
    expect(git(repo, 'branch').replaceAll(/[ +*]/g, '').trim().split('\n')).toEqual(['holdfast/s3', 'main', 'one', 'two'])
  }))
