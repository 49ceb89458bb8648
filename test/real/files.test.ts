import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { orNull } from '../../src/lib/index.ts'
import { AGENT, inLab, type Lab, until } from './lab.ts'

const SKIPPED = /^worktrees\/|^tmux\//

test('docs/files.md names every file that real runs, hooks and the daemon leave in the home', () =>
  inLab(async (lab) => {
    const user = lab.newDir()
    Object.assign(lab.env, { HOME: user, CLAUDE_CONFIG_DIR: undefined })
    await lab.ok(['hooks', 'install', 'claude'])
    await lab.ok(['daemon', 'start'])
    await lab.ok(['run', '--session', 'front', '--dir', lab.newDir(), '--', 'true'])
    await lab.ok(lab.detached('behind', AGENT, 'tree'))
    await lab.pid('main')
    const repo = repository(lab)
    await lab.ok(['run', '--session', 'branch', '--dir', repo, '--worktree', '--detach', '--', 'sleep', '1000'])
    await lab.ok(['run', '--session', 'behind', '--takeover', '--dir', lab.dir, '--detach', '--', 'sleep', '1000'])
    await lab.ok(['stop', '--all'])
    await lab.ok(['daemon', 'stop'])
    const seen = await until('a moment in which nothing goes', () => orNull(() => files(lab.home)))
    expect(seen.some((file) => /^runs\/[^/]+\/exit$/.test(file))).toBe(true)
    for (const known of ['install', 'holdfast.db', 'seen', 'daemon/log', 'hooks/claude.json']) expect(seen).toContain(known)
    const named = patterns(readFileSync('docs/files.md', 'utf8'))
    expect(seen.filter((file) => !SKIPPED.test(file) && !named.some((pattern) => pattern.test(file)))).toEqual([])
    // The page is held to what it says: a file of another name is not covered.
    for (const other of ['other', 'runs/r0123456789ab/other', 'daemon/other'])
      expect(
        named.some((pattern) => pattern.test(other)),
        other,
      ).toBe(false)
  }))

/** Every file below a folder, by its path from there. */
const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

/** The paths in the first column of the tables: words in capitals stand for any name, and a folder for all that is in it. */
const patterns = (page: string): RegExp[] =>
  page
    .split('\n')
    .flatMap((line) => /^\| (`.*?) \|/.exec(line)?.[1]?.match(/`[^`]+`/g) ?? [])
    .map((word) => word.slice(1, -1))
    .filter((path) => path !== 'runs/' && !path.includes(' '))
    .map((path) => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\b[A-Z]+\b/g, '[^/]+')}${path.endsWith('/') ? '.+' : ''}$`))

function repository(lab: Lab): string {
  const repo = lab.newDir()
  writeFileSync(join(repo, 'file'), 'text\n')
  const git = (...args: string[]): void => {
    const { status, stderr } = spawnSync('git', ['-C', repo, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
  }
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  return repo
}
