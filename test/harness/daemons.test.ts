import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findHarnessDaemons, harnessDaemonRules, SPARE } from '../../src/harness/index.ts'
import type { ProcessRow } from '../../src/model/index.ts'
import { row } from '../decide/build.ts'
import { verifies } from '../requirements.ts'

const home = mkdtempSync(join(tmpdir(), 'hf-harness-'))
afterAll(() => rmSync(home, { recursive: true }))

const find = (name: string, argv: readonly string[], env: Record<string, string> = { HOME: home }) =>
  findHarnessDaemons(
    [row(500, { name })],
    () => argv,
    () => env,
  )
const write = (path: string, text: string): void => {
  mkdirSync(join(home, path, '..'), { recursive: true })
  writeFileSync(join(home, path), text)
}

/** Recorded from claude 2.1.325, without what nobody reads. */
const ROSTER = JSON.stringify({
  proto: 1,
  supervisorPid: 29217,
  updatedAt: 1794824807202,
  workers: {
    ce90ba4e: {
      pid: 29224,
      procStart: '4624546',
      sessionId: 'ce90ba4e-1a26-4c7d-97fc-c4174280d06e',
      cliVersion: '2.1.325',
      startedAt: 1794824806302,
      attempt: 1,
      cwd: '/w',
      dispatch: {
        proto: 1,
        short: 'ce90ba4e',
        sessionId: 'ce90ba4e-1a26-4c7d-97fc-c4174280d06e',
        createdAt: 1794824805973,
        source: 'shell',
        cwd: '/w',
        launch: { mode: 'prompt', args: [] },
      },
      replPid: 29241,
      replProcStart: '4624561',
    },
  },
})
/** Recorded from codex 0.166.0: a rollout of its app server, cut to what tells of turns. */
const THREAD = '01a1e3e9-4d26-7682-bcc0-49c71a386a95'
const TURN = '01a1e3e9-4d85-7e62-85e7-2edd9f850564'
const META = `{"timestamp":"2026-11-16T10:31:20.201Z","ordinal":0,"type":"session_meta","payload":{"session_id":"${THREAD}","id":"${THREAD}","cwd":"/w","originator":"codex-tui","cli_version":"0.166.0","source":"vscode"}}`
const STARTED = `{"timestamp":"2026-11-16T10:31:20.270Z","ordinal":1,"type":"event_msg","payload":{"type":"task_started","turn_id":"${TURN}"}}`
const USED = `{"timestamp":"2026-11-16T10:31:21.000Z","ordinal":9,"type":"token_usage_record","payload":{"turn_id":"${TURN}","usage":{}}}`
const COMPLETE = `{"timestamp":"2026-11-16T10:31:30.900Z","ordinal":17,"type":"event_msg","payload":{"type":"task_complete","turn_id":"${TURN}"}}`
const ABORTED = `{"timestamp":"2026-11-16T10:32:48.880Z","ordinal":20,"type":"event_msg","payload":{"type":"turn_aborted","turn_id":"${TURN}","reason":"interrupted"}}`
const LATE = `{"timestamp":"2026-11-16T10:32:48.887Z","ordinal":21,"type":"event_msg","payload":{"type":"item_completed","thread_id":"${THREAD}","turn_id":"${TURN}"}}`

/** What the harnesses' own files look like: measured (claude 2.1.325, codex 0.166, cline 3.0). */
const ticksOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19])

describe('shared daemons', () => {
  test('Claude Code: a daemon by its command line, its sessions by its roster', () => {
    write('.claude/daemon/roster.json', ROSTER)
    expect(find('claude', ['/opt/claude', 'daemon', 'run', '--origin', 'transient'])).toEqual([
      {
        row: row(500, { name: 'claude' }),
        what: "Claude Code's daemon",
        harness: 'claude',
        served: [
          {
            nativeId: 'ce90ba4e-1a26-4c7d-97fc-c4174280d06e',
            firstId: 'ce90ba4e-1a26-4c7d-97fc-c4174280d06e',
            dir: '/w',
            since: 1794824805973,
            processes: [
              { pid: 29224, ticks: 4624546 },
              { pid: 29241, ticks: 4624561 },
            ],
            active: true,
            stop: { kind: 'command', command: ['/opt/claude', 'stop', 'ce90ba4e'] },
          },
        ],
        stop: { kind: 'command', command: ['/opt/claude', 'daemon', 'stop', '--any'] },
      },
    ])
    expect(find('claude', ['/opt/claude', '-p', 'daemon run'])).toEqual([])
    expect(find('claude', ['claude', 'bg-spare', '--bg-spare', 'x'])).toEqual([])
  })
  test('Claude Code: while its daemon is not there, its workers speak for it', () => {
    write('.claude/daemon/roster.json', ROSTER)
    const host = row(29224, { name: 'claude', ticks: 4624546 })
    const argv = ['claude bg-pty-host', '--bg-pty-host', '/tmp/x.sock', '200', '50', '--', '/opt/claude', '--bg-spare', '/tmp/y.sock']
    const look = (rows: readonly ProcessRow[], daemon: number | null) =>
      findHarnessDaemons(
        rows,
        (pid) => (pid === daemon ? ['/opt/claude', 'daemon', 'run'] : argv),
        () => ({ HOME: home }),
      )
    expect(look([host], null)).toMatchObject([
      { row: host, worker: true, served: [{ dir: '/w', stop: { command: ['/opt/claude', 'stop', 'ce90ba4e'] } }], stop: null },
    ])
    // What the roster says of those who died with it.
    expect(look([row(7, { name: 'claude' })], null)).toMatchObject([{ worker: true, served: [] }])
    expect(look([host, row(500, { name: 'claude' })], 500)).toMatchObject([{ row: { pid: 500 }, served: [{}] }])
    expect(look([host, row(500, { name: 'claude' })], 500)).toHaveLength(1)
  })
  verifies('identity', 'a worker is known by pid and start; a bare pid names nobody', () => {
    const processes = (worker: object): unknown => {
      write('.claude/daemon/roster.json', JSON.stringify({ workers: { a: { cwd: '/w', ...worker } } }))
      return find('claude', ['claude', 'daemon', 'run'])[0]?.served?.[0]?.processes
    }
    // As it is before its agent has said who it is.
    expect(processes({ pid: 78, procStart: '5' })).toEqual([{ pid: 78, ticks: 5 }])
    expect(processes({ pid: 78, replPid: 91 })).toEqual([])
    expect(processes({ pid: 78, procStart: 'x', replPid: 91, replProcStart: '6' })).toEqual([{ pid: 91, ticks: 6 }])
    expect(processes({ pid: 1, procStart: '5' })).toEqual([])
  })
  test('Claude Code: what a session in its daemon has started says so, and of which', () => {
    const id = (env: Record<string, string>) => harnessDaemonRules.backgroundId('claude', env)
    expect(id({ CLAUDE_JOB_DIR: '/home/dev/.claude/jobs/9b39611e', CLAUDE_CODE_SESSION_ID: '9b39611e-0786-41d4-aef7-7f00a4edfbfc' })).toBe('9b39611e')
    // One that it resumed outside of the daemon, or never had there.
    expect(id({ CLAUDE_CODE_SESSION_ID: '9b39611e-0786-41d4-aef7-7f00a4edfbfc' })).toBeNull()
    expect(id({ CLAUDE_JOB_DIR: '/somewhere/else' })).toBeNull()
    expect(harnessDaemonRules.backgroundId('gemini', { CLAUDE_JOB_DIR: '/j/9b39611e' })).toBeNull()
  })
  test('a folder of its own choice is looked into', () => {
    expect(find('claude', ['claude', 'daemon', 'run'], { HOME: home, CLAUDE_CONFIG_DIR: join(home, 'none') })[0]?.served).toBeNull()
  })
  test.each(['', '{}', '{"workers":{"a":{}}}', '{"workers":{"a":{"pid":"x","cwd":"/w"}}}'])('a roster that says %j tells nothing', (text) => {
    write('.claude/daemon/roster.json', text)
    expect(find('claude', ['claude', 'daemon', 'run'])[0]?.served).toBeNull()
  })
  test('Codex: its threads are the rollouts that it has open', () => {
    const rollout = `.codex/sessions/2026/11/16/rollout-2026-11-16T10-31-20-${THREAD}.jsonl`
    write(rollout, `${META}\n${STARTED}\n`)
    write(
      '.codex/app-server-daemon/daemon.pid',
      JSON.stringify({ pid: process.pid, processIdentity: { bootId: 'x', startTicks: ticksOf(process.pid) } }),
    )
    const fd = openSync(join(home, rollout), 'r')
    const argv = ['/x/bin/codex', 'app-server', '--listen', 'unix://', '--managed-daemon']
    const [found] = find('codex', argv)
    expect(found?.stop).toEqual({ kind: 'command', command: ['/x/bin/codex', 'app-server', 'daemon', 'stop'] })
    expect(found?.served).toEqual([
      {
        nativeId: THREAD,
        dir: '/w',
        since: Date.UTC(2026, 10, 16, 10, 31, 20, 201),
        processes: [],
        active: true,
        stop: {
          kind: 'calls',
          socket: join(home, '.codex/app-server-control/app-server-control.sock'),
          calls: [
            { method: 'turn/interrupt', params: { threadId: THREAD, turnId: TURN } },
            { method: 'thread/backgroundTerminals/clean', params: { threadId: THREAD } },
          ],
        },
      },
    ])
    for (const end of [COMPLETE, `${ABORTED}\n${LATE}`]) {
      write(rollout, `${META}\n${STARTED}\n${end}\n`)
      expect(find('codex', argv)[0]?.served).toMatchObject([{ active: false, stop: null }])
    }
    // A turn that has said more than is read.
    write(rollout, `${META}\n${STARTED}\n${`${USED}\n`.repeat(3000)}{"type":"event_msg","payl`)
    expect(find('codex', argv)[0]?.served).toMatchObject([{ active: true }])
    closeSync(fd)
    expect(find('codex', argv)).toMatchObject([{ served: [] }])
    expect(find('codex', ['codex', 'app-server', 'daemon', 'pid-update-loop'])).toHaveLength(1)
    expect(find('codex', ['codex', 'exec', '--json'])).toEqual([])
  })
  test('Codex: a thread of the app server is told from one of a command by its rollout', () => {
    const known = (id: string): boolean => harnessDaemonRules.backgroundId('codex', { HOME: home, CODEX_THREAD_ID: id }) === id
    expect(known(THREAD)).toBe(true)
    const exec = '01a1e3ee-950a-7012-8224-29cef1314c76'
    write(`.codex/sessions/2026/11/16/rollout-2026-11-16T10-37-05-${exec}.jsonl`, META.replaceAll(THREAD, exec).replace('vscode', 'exec'))
    expect(known(exec)).toBe(false)
    expect(known('01a1e3ee-950a-7012-8224-29cef1314c77')).toBe(false)
    expect(known('nonsense')).toBe(false)
  })
  test('Cline: the sessions that run; it has no way of its own to end', () => {
    for (const [id, status] of [
      ['a', 'running'],
      ['b', 'completed'],
    ])
      write(`.cline/data/sessions/${id}/${id}.json`, JSON.stringify({ pid: 1, status, cwd: `/${id}` }))
    expect(find('cline', ['cline', '--cline-hub-daemon', '--cwd', '/a'])).toMatchObject([
      { harness: 'cline', served: [{ nativeId: 'a', dir: '/a', active: true, stop: null }], stop: null },
    ])
  })
  test('a command that hands its session to the daemon says so by an option', () => {
    expect(harnessDaemonRules.handsOver(['/opt/claude', '--model', 'x', '--bg', 'go'])).toBe('claude')
    expect(harnessDaemonRules.handsOver(['claude', '-p', 'go'])).toBeNull()
    expect(harnessDaemonRules.handsOver(['codex', '--bg'])).toBeNull()
    expect(harnessDaemonRules.handsOver(['sh', '-c', 'x', '--bg'])).toBeNull()
  })
  test('a command line is read only where the name fits', () => {
    expect(
      findHarnessDaemons(
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
