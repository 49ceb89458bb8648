import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { SPARE, sharedDaemons } from '../../src/harness/index.ts'
import { row } from '../decide/build.ts'

const home = mkdtempSync(join(tmpdir(), 'hf-harness-'))
afterAll(() => rmSync(home, { recursive: true }))

const find = (name: string, argv: readonly string[], env: Record<string, string> = { HOME: home }) =>
  sharedDaemons(
    [row(500, { name })],
    () => argv,
    () => env,
  )
const write = (path: string, text: string): void => {
  mkdirSync(join(home, path, '..'), { recursive: true })
  writeFileSync(join(home, path), text)
}

/** What the harnesses' own files look like: measured (claude 2.1.325, codex 0.166, cline 3.0). */
describe('shared daemons', () => {
  test('Claude Code: a daemon by its command line, its sessions by its roster', () => {
    write(
      '.claude/daemon/roster.json',
      JSON.stringify({ proto: 1, supervisorPid: 67, workers: { '7a607dd8': { pid: 78, replPid: 91, cwd: '/w', sessionId: 'x', startedAt: 5 } } }),
    )
    expect(find('claude', ['/opt/claude', 'daemon', 'run', '--origin', 'transient'])).toEqual([
      {
        row: row(500, { name: 'claude' }),
        what: "Claude Code's daemon",
        served: [{ dir: '/w', since: 5, pids: [78, 91], stop: ['/opt/claude', 'stop', '7a607dd8'] }],
        stop: ['/opt/claude', 'daemon', 'stop', '--any'],
      },
    ])
    expect(find('claude', ['/opt/claude', '-p', 'daemon run'])).toEqual([])
    expect(find('claude', ['claude', 'bg-spare', '--bg-spare', 'x'])).toEqual([])
  })
  test('a folder of its own choice is looked into', () => {
    expect(find('claude', ['claude', 'daemon', 'run'], { HOME: home, CLAUDE_CONFIG_DIR: join(home, 'none') })[0]?.served).toBeNull()
  })
  test.each(['', '{}', '{"workers":{"a":{}}}', '{"workers":{"a":{"pid":"x","cwd":"/w"}}}'])('a roster that says %j tells nothing', (text) => {
    write('.claude/daemon/roster.json', text)
    expect(find('claude', ['claude', 'daemon', 'run'])[0]?.served).toBeNull()
  })
  test('Codex: its threads are the rollouts that it has open', () => {
    write(
      '.codex/sessions/rollout-2026-x.jsonl',
      '{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"t","cwd":"/w"}}\n{}\n',
    )
    write('.codex/app-server-daemon/daemon.pid', JSON.stringify({ pid: process.pid }))
    const fd = openSync(join(home, '.codex/sessions/rollout-2026-x.jsonl'), 'r')
    const argv = ['/x/bin/codex', 'app-server', '--listen', 'unix://', '--managed-daemon']
    expect(find('codex', argv)).toMatchObject([
      { served: [{ dir: '/w', since: Date.UTC(2026, 0, 1), pids: [], stop: null }], stop: ['/x/bin/codex', 'app-server', 'daemon', 'stop'] },
    ])
    closeSync(fd)
    expect(find('codex', argv)).toMatchObject([{ served: [] }])
    expect(find('codex', ['codex', 'app-server', 'daemon', 'pid-update-loop'])).toHaveLength(1)
    expect(find('codex', ['codex', 'exec', '--json'])).toEqual([])
  })
  test('Cline: the sessions that run; it has no way of its own to end', () => {
    for (const [id, status] of [
      ['a', 'running'],
      ['b', 'completed'],
    ])
      write(`.cline/data/sessions/${id}/${id}.json`, JSON.stringify({ pid: 1, status, cwd: `/${id}` }))
    expect(find('cline', ['cline', '--cline-hub-daemon', '--cwd', '/a'])).toMatchObject([{ served: [{ dir: '/a' }], stop: null }])
  })
  test('a command line is read only where the name fits', () => {
    expect(
      sharedDaemons(
        [row(500, { name: 'sleep' })],
        () => expect.fail('it was read'),
        () => ({}),
      ),
    ).toEqual([])
  })
})

test('the shipped list has no name twice without telling them apart, and none that an agent or a shell has', () => {
  const bare = SPARE.filter(({ saying }) => saying === undefined).flatMap(({ named }) => named)
  expect(new Set(bare).size).toBe(bare.length)
  for (const name of ['sh', 'bash', 'zsh', 'node', 'bun', 'python3', 'claude', 'codex', 'gemini', 'java', 'vite', 'next-server', 'tmux', 'sleep'])
    expect(bare).not.toContain(name)
})
