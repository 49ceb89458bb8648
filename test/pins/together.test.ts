import { describe, test } from 'vitest'
import type { Self } from '../../src/model/index.ts'
import { messageJson, type SiblingView, siblingJson, unmanagedJson, whoJson } from '../../src/show/index.ts'
import { NOW, row, running, session, stopping } from '../decide/build.ts'
import { pinned } from './matcher.ts'

const sibling: SiblingView = {
  sight: { session: session(), run: running(), liveness: 'alive', pid: 200, note: null, tasks: [] },
  relation: null,
  branch: null,
  said: null,
  locks: [],
  ports: null,
}
const tokens = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: null }

describe('siblings --json pins', () => {
  test('a sibling of which little is known', () => {
    pinned(siblingJson(sibling), {
      session: 's1',
      name: null,
      run: 'r000000000001',
      pid: 200,
      dir: '/home/ann/project',
      branch: null,
      harness: null,
      nativeId: null,
      since: '2026-01-02T10:57:55.000Z',
      liveness: 'alive',
      state: 'running',
      activity: null,
      relation: null,
      doing: null,
      locks: [],
      ports: null,
      usage: null,
      tasks: [],
      note: null,
    })
  })
  test('a sibling of which everything is known', () => {
    const sight: SiblingView['sight'] = {
      ...sibling.sight,
      session: session({ name: 'fix', harness: 'codex', native: '0000-native' }),
      run: stopping(),
      liveness: 'unknown',
      pid: null,
      activity: { state: 'busy', since: null, how: 'output' },
      note: 'on another machine',
      tokens: { run: null, session: tokens, whole: false, unwatched: null },
    }
    const said = { plan: { text: 'p', at: NOW - 1000 }, result: { text: 'r', at: NOW } }
    pinned(siblingJson({ sight, relation: 'child', branch: 'main', said, locks: ['/x'], ports: [3000], here: true }), {
      session: 's1',
      name: 'fix',
      run: 'r000000000001',
      pid: null,
      dir: '/home/ann/project',
      branch: 'main',
      harness: 'codex',
      nativeId: '0000-native',
      since: '2026-01-02T10:57:55.000Z',
      liveness: 'unknown',
      state: 'stopping',
      activity: { state: 'busy', since: null, how: 'output' },
      relation: 'child',
      doing: { plan: { text: 'p', at: '2026-01-02T11:59:59.000Z' }, result: { text: 'r', at: '2026-01-02T12:00:00.000Z' } },
      locks: ['/x'],
      ports: [3000],
      usage: {
        cpuMs: null,
        whole: false,
        tokens: null,
        sessionTokens: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, total: 10, cost: null },
        tokensWhole: false,
        unwatched: null,
      },
      tasks: [],
      note: 'on another machine',
      here: true,
    })
  })
})

describe('whoami --json pins', () => {
  const nothing = {
    session: null,
    name: null,
    run: null,
    epoch: null,
    parent: null,
    task: null,
    dir: null,
    harness: null,
    nativeId: null,
    agentPid: null,
    inside: null,
    since: null,
    how: null,
    note: null,
  }
  test('a session', () => {
    const own = session({ name: 'fix', harness: 'claude', native: '0000-native' })
    const self: Self = {
      kind: 'session',
      session: own,
      run: running({ parent: 'r000000000000', task: 'adopt' }),
      how: 'cookie',
      why: 'it has it',
      note: 'n',
    }
    pinned(whoJson(self), {
      kind: 'session',
      session: 's1',
      name: 'fix',
      run: 'r000000000001',
      epoch: 3,
      parent: 'r000000000000',
      task: 'adopt',
      dir: '/home/ann/project',
      harness: 'claude',
      nativeId: '0000-native',
      agentPid: null,
      inside: null,
      since: '2026-01-02T10:57:55.000Z',
      how: 'cookie',
      why: 'it has it',
      note: 'n',
    })
  })
  test('an agent that Holdfast did not start', () => {
    const agent = { harness: 'claude', row: row(7), launchers: [], argv: [], cwd: '/c', nativeId: 'Y', named: null }
    pinned(whoJson({ kind: 'agent', agent, inside: 's1', why: 'Holdfast did not start it' }), {
      ...nothing,
      kind: 'agent',
      dir: '/c',
      harness: 'claude',
      nativeId: 'Y',
      agentPid: 7,
      inside: 's1',
      why: 'Holdfast did not start it',
    })
  })
  test('a caller outside of every session', () =>
    pinned(whoJson({ kind: 'nobody', why: 'it was started in no session' }), { ...nothing, kind: 'nobody', why: 'it was started in no session' }))
})

test('ls --unmanaged --json pins an agent that Holdfast did not start', () => {
  const sight = {
    harness: 'claude',
    pid: 300,
    launchers: [299],
    nativeId: null,
    named: 'Y',
    dir: '/c',
    startedAt: NOW - 5000,
    argv: ['/usr/bin/claude', '--resume', 'Y'],
    marked: 'session s9',
    keptBy: { what: 'its daemon', stop: ['claude', 'stop', 'Y'] },
    around: false,
    duplicateOf: [{ session: 's1', pid: 200, how: 'recorded' as const }],
  }
  pinned(unmanagedJson(sight), {
    session: null,
    state: 'unmanaged',
    liveness: 'alive',
    pid: 300,
    dir: '/c',
    harness: 'claude',
    nativeId: null,
    named: 'Y',
    argv: ['/usr/bin/claude', '--resume', 'Y'],
    startedAt: '2026-01-02T11:59:55.000Z',
    launchers: [299],
    marked: 'session s9',
    keptBy: { what: 'its daemon', stop: ['claude', 'stop', 'Y'] },
    around: false,
    note: '<text>',
    managed: false,
    duplicateOf: [{ session: 's1', pid: 200, how: 'recorded' }],
  })
})

test('inbox --json pins a message', () => {
  const from = { session: 's2', run: 'r2', how: 'cookie', agent: { harness: 'claude', inside: null }, user: 'ann', host: 'box' } as const
  pinned(messageJson({ seq: 4, at: NOW, expiresAt: NOW + 1000, from, to: 'all', text: 'hello' }), {
    message: 4,
    at: '2026-01-02T12:00:00.000Z',
    expiresAt: '2026-01-02T12:00:01.000Z',
    from: { session: 's2', run: 'r2', how: 'cookie', agent: { harness: 'claude', inside: null }, user: 'ann', host: 'box' },
    to: 'all',
    text: 'hello',
    sentTo: null,
  })
  pinned(messageJson({ seq: 4, at: NOW, expiresAt: NOW, from, to: 'session', text: '', sentTo: { run: 'r1', endedAt: NOW } })['sentTo'], {
    run: 'r1',
    endedAt: '2026-01-02T12:00:00.000Z',
  })
})
