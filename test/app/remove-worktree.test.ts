import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { stop } from '../../src/app/end/stop.ts'
import { idleWorktrees } from '../../src/app/maintenance/idle-worktrees.ts'
import { start } from '../../src/app/start/start.ts'
import { type RemovedWorktree, removeWorktree, type WorktreeToRemove } from '../../src/app/worktree/remove-worktree.ts'
import { gitWorktrees } from '../../src/keep/index.ts'
import { policy, WORKTREE_REASON } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { aRequest, outside, starting } from '../sim/starting.ts'

/** A simulated world with a true repository, and a true worktree of ours in it. */
async function lab() {
  const base = await starting()
  const repo = join(base.dir, '..', 'true-repository')
  const env = { PATH: process.env['PATH'], HOME: base.dir }
  const git = (dir: string, ...args: string[]): string =>
    execFileSync('git', ['-C', dir, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  const worktrees = gitWorktrees(env, join(base.dir, '..', 'looks'))
  const world = { ...base.world, worktrees }
  mkdirSync(repo)
  git(repo, 'init', '--quiet', '--initial-branch=main')
  const commit = (dir: string, name: string, text: string): void => {
    writeFileSync(join(dir, name), text)
    git(dir, 'add', '.')
    git(dir, 'commit', '--quiet', '-m', name)
  }
  commit(repo, 'a', '1')
  const path = join(world.worktreesFolder, 'w')
  expect(await worktrees.add({ repository: repo, path, branch: 'holdfast/s', reason: `${WORKTREE_REASON}s` })).toBeNull()
  const remove = (target = 'main'): Promise<RemovedWorktree> => {
    const request: WorktreeToRemove = { dir: join(path, 'sub'), target, base: null }
    return removeWorktree(world, base.sim.store, request)
  }
  return { ...base, world, repo, path, git, commit, remove }
}

verifies('lock-life', 'a worktree goes when it is clean, and its branch keeps its commits', async () => {
  const one = await lab()
  one.commit(one.path, 'b', 'own')
  const removed = { kind: 'removed', path: one.path, branch: 'holdfast/s', branchStays: true, content: { kind: 'ahead', commits: 1, files: 1 } }
  expect(await one.remove()).toMatchObject({ ...removed, why: 'it is clean' })
  expect([existsSync(one.path), one.git(one.repo, 'show', 'holdfast/s:b')]).toEqual([false, 'own'])
  expect(await one.remove()).toEqual({ kind: 'absent', path: one.path })
})

verifies(
  'lock-life',
  'a branch whose content was squashed into the target goes with its worktree, also with open files that the target has',
  async () => {
    const one = await lab()
    one.commit(one.path, 'b', 'own')
    one.git(one.repo, 'merge', '--quiet', '--squash', 'holdfast/s')
    one.git(one.repo, 'commit', '--quiet', '-m', 'squashed')
    one.commit(one.repo, 'c', 'more')
    writeFileSync(join(one.path, 'c'), 'more')
    expect(await one.remove()).toMatchObject({ kind: 'removed', branchStays: false, why: 'the content of all of it is in main' })
    expect(one.git(one.repo, 'branch', '--list', 'holdfast/*')).toBe('')
  },
)

verifies('unknown', 'a dirty worktree is kept and named, and so is one whose target cannot be found', async () => {
  const one = await lab()
  writeFileSync(join(one.path, 'new'), 'work')
  expect(await one.remove()).toMatchObject({ kind: 'kept', path: one.path, branch: 'holdfast/s', why: 'uncommitted: 0 changed, 1 untracked' })
  expect(await one.remove('nowhere')).toMatchObject({ kind: 'kept', content: { kind: 'unknown' } })
  expect(existsSync(join(one.path, 'new'))).toBe(true)
})

verifies('lock-life', 'a worktree in which anybody works or that a session holds is kept, and the process is named', async () => {
  const one = await lab()
  const stranger = one.stranger(['vite'], join(one.path, 'src'))
  expect(await one.remove()).toMatchObject({ kind: 'kept', why: `vite (pid ${stranger.pid}) works in it` })
  one.sim.remove(stranger.pid)
  expect(await start(one.world, aRequest(one, { dir: one.path }), undefined, outside)).toMatchObject({ kind: 'running' })
  expect(await one.remove()).toMatchObject({ kind: 'kept', why: 's works in it' })
  expect(existsSync(one.path)).toBe(true)
})

verifies('unknown', 'where not every process can be seen, nothing is removed', async () => {
  const one = await lab()
  const { table } = one.world.processes
  const blind = {
    ...one.world,
    processes: { ...one.world.processes, table: (how: Parameters<typeof table>[0]) => ({ ...table(how), blind: 'processes are hidden' }) },
  }
  expect(await removeWorktree(blind, one.sim.store, { dir: one.path, target: 'main', base: null })).toMatchObject({
    kind: 'kept',
    why: 'processes are hidden',
  })
  expect(await removeWorktree(one.world, one.sim.store, { dir: one.repo, target: 'main', base: null })).toEqual({ kind: 'absent', path: one.repo })
})

verifies(
  'lock-life',
  'the worktree of a session that can be resumed outlives prune for a named time, and then only until it is asked for',
  async () => {
    const one = await lab()
    const id = '11111111-2222-4333-8444-555555555555'
    one.program('claude')
    one.conversation(id)
    const request = aRequest(one, { dir: one.path, argv: [], harness: 'claude', resume: { native: id, from: [] }, prompt: { text: 'go on' } })
    expect(await start(one.world, request, undefined, outside)).toMatchObject({ kind: 'running' })
    await stop(one.world, { references: ['s'] })
    const [kept] = await idleWorktrees(one.world, one.sim.store)
    expect(kept).toMatchObject({
      what: one.path,
      keep: true,
      why: expect.stringMatching(/^s can be resumed in it; it stays until 2023-11-28T/),
    })
    one.sim.clock.sleep(policy.worktreeResumableMs)
    const [gone] = await idleWorktrees(one.world, one.sim.store)
    expect(await gone?.remove?.()).toBeNull()
    expect([existsSync(one.path), gone?.keep]).toEqual([false, false])
    // Nothing is said of it any more, but it can be made again as long as its session is on record.
    expect(await idleWorktrees(one.world, one.sim.store)).toEqual([])
    const again = aRequest(one, {
      session: 's',
      dir: one.path,
      argv: [],
      harness: 'claude',
      resume: { native: id, from: [] },
      prompt: { text: 'go on' },
    })
    expect(await start(one.world, again, undefined, outside)).toMatchObject({ kind: 'running', run: { dir: one.path, session: 's' } })
    expect(one.git(one.path, 'branch', '--show-current').trim()).toBe('holdfast/s')
  },
)

verifies('bounded', 'what is known of a worktree goes with the last session that worked in it', async () => {
  const one = await lab()
  one.world.worktreeOrigins.recordOrigin({ path: one.path, repository: one.repo, branch: 'holdfast/s' })
  expect((await idleWorktrees(one.world, one.sim.store)).map(({ kind }) => kind)).toEqual(['worktree'])
  await one.remove()
  const [known] = await idleWorktrees(one.world, one.sim.store)
  expect(known).toMatchObject({ kind: 'files', what: 'what is known of worktree w', keep: false })
  await known?.remove?.()
  expect(one.world.worktreeOrigins.origins()).toEqual([])
})
