import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { age, gitIn, setTraps, TRAPPED, traps } from '../fixtures/git-traps.ts'
import { daemonStatus, started } from './daemon-lab.ts'
import { findings, inLab, type Lab, until } from './lab.ts'

const git = (lab: Lab, dir: string, ...args: string[]): string => gitIn({ HOME: lab.agentDir, XDG_CONFIG_HOME: lab.agentDir }, dir, ...args)

function repository(lab: Lab): string {
  const dir = join(lab.newDir(), 'repo')
  mkdirSync(dir)
  git(lab, dir, 'init', '--quiet', '--initial-branch=main')
  writeFileSync(join(dir, '.gitignore'), 'ignored\n')
  for (const name of TRAPPED) writeFileSync(join(dir, name), `${name}\n`)
  git(lab, dir, 'add', '.')
  git(lab, dir, 'commit', '--quiet', '-m', 'first')
  return dir
}

test('no verb that looks, and no round of the daemon, runs a program that an agent put into a repository', () =>
  inLab(async (lab) => {
    const repo = repository(lab)
    const env = { HOME: lab.agentDir, XDG_CONFIG_HOME: lab.agentDir }
    const run = (session: string, ...more: string[]) =>
      lab.hf(['run', '--session', session, '--detach', ...more, '--', 'sleep', '1000'], { cwd: repo, env })
    const at = (session: string): string => join(lab.home, 'worktrees', `repo-holdfast-${session}`)
    const sessions = ['clean', 'dirty', 'untracked', 'ignored', 'lonely', 'live']
    for (const session of sessions) expect((await run(session, '--worktree')).code, session).toBe(0)
    for (const session of sessions.slice(0, -1)) await lab.ok(['stop', session, '--grace', '1s'])
    writeFileSync(join(at('dirty'), 'a'), 'work')
    writeFileSync(join(at('untracked'), 'new'), 'work')
    writeFileSync(join(at('ignored'), 'ignored'), 'work')
    git(lab, at('lonely'), 'checkout', '--quiet', '--detach')
    git(lab, at('lonely'), 'commit', '--quiet', '--allow-empty', '-m', 'lonely')
    const set = traps(lab.agentDir)
    for (const session of sessions) setTraps({ HOME: lab.agentDir }, at(session), set)
    for (const session of ['clean', 'untracked', 'ignored', 'lonely', 'live']) age(at(session), TRAPPED)

    const dry = JSON.parse(await lab.ok(['prune', '--dry-run', '--json'], { env })) as { what: string; why: string; keep: boolean }[]
    const told = Object.fromEntries(sessions.map((session) => [session, dry.find(({ what }) => what === at(session))]))
    expect(told).toEqual({
      clean: expect.objectContaining({ keep: false }),
      dirty: expect.objectContaining({ keep: true, why: expect.stringContaining('1 changed, 0 untracked') }),
      untracked: expect.objectContaining({ keep: true, why: 'uncommitted: 0 changed, 1 untracked' }),
      ignored: expect.objectContaining({ keep: true, why: expect.stringContaining('git ignores ignored') }),
      lonely: expect.objectContaining({ keep: true, why: expect.stringContaining('no branch or tag holds') }),
      live: expect.objectContaining({ keep: true, why: 'live works in it' }),
    })
    expect(set.sprung()).toEqual([])
    await findings(lab, { env })
    for (const verb of [
      ['ls', '--all'],
      ['status', 'live'],
      ['siblings'],
      ['locks'],
      ['tree', 'live'],
      ['events'],
      ['reconcile'],
      ['prune', '--dry-run'],
    ])
      expect([verb, (await lab.hf(verb, { cwd: at('live'), env })).code]).toEqual([verb, 0])
    await lab.hf(['doctor'], { cwd: at('live'), env })
    await lab.hf(['lock', '--check', at('live')], { env })
    // A start that is refused, and one in a worktree that is there already.
    expect((await lab.hf(['run', '--session', 'beside', '--dir', at('live'), '--detach', '--', 'sleep', '1'], { env })).code).toBe(75)
    expect((await run('again', '--worktree=holdfast/dirty')).code).toBe(0)
    expect(set.sprung()).toEqual([])
    await started(lab, { env })
    await until('a round of the daemon', async () => (await daemonStatus(lab)).healthy)
    expect(set.sprung()).toEqual([])
    // A removal is what a person asks for, and runs none of them either.
    await lab.ok(['prune'], { env })
    expect(sessions.map((session) => existsSync(at(session)))).toEqual([false, true, true, true, true, true])
    expect(set.sprung()).toEqual([])
  }))
