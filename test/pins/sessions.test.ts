import { describe, test } from 'vitest'
import { managedJson, type SessionView, sightJson } from '../../src/show/index.ts'
import { ended, intent, NOW, running, session, starting, stopping } from '../decide/build.ts'
import { pinned } from './matcher.ts'

const sight = (over: Partial<SessionView> = {}): SessionView => ({
  session: session(),
  run: running(),
  liveness: 'alive',
  pid: 200,
  note: null,
  tasks: [],
  ...over,
})
const tokens = { input: 8100, output: 1200, cacheRead: 3000, cacheWrite: 40, cost: 0.12 }

/** Programs read these objects. Each is written out whole, so that a renamed key in the source cannot rename it here. */
describe('status --json pins', () => {
  test('a run that starts: no keeper yet, so its launcher is the owner', () => {
    pinned(sightJson(sight({ run: starting({ detached: true, tty: null }), pid: null })), {
      session: 's1',
      name: null,
      run: 'r000000000001',
      epoch: 3,
      state: 'starting',
      liveness: 'alive',
      pid: null,
      keeper: null,
      dir: '/home/ann/project',
      harness: null,
      nativeId: null,
      argv: ['claude', '--resume'],
      detached: true,
      tmux: null,
      startedAt: '2026-01-02T10:57:55.000Z',
      endedAt: null,
      exit: null,
      reason: null,
      evidence: [],
      endedBy: null,
      activity: null,
      note: null,
      survivors: [],
      owner: { host: 'box', user: 'ann', pid: 90, since: '2026-01-02T10:57:55.000Z', tty: null, attach: 'holdfast attach s1' },
      parent: null,
      tasks: [],
      usage: null,
      budget: null,
      budgetCost: null,
      containment: { level: 'cgroup', path: '/cg/holdfast-i1-r000000000001' },
      adopted: false,
      worktree: null,
    })
  })

  test('a budget in dollars', () => {
    const { budget, budgetCost } = sightJson(sight({ run: running({ budgetCost: 2.5 }) }))
    pinned({ budget, budgetCost }, { budget: null, budgetCost: 2.5 })
  })

  test('a run that lives, with everything that can be told of one', () => {
    const run = running({
      tmux: { socket: '/h/tmux/sock', name: 'r000000000001' },
      detached: true,
      tty: null,
      parent: 'r000000000000',
      budget: 200_000,
    })
    const child = running({ id: 'r000000000002', session: 't1', task: 'cancel', argv: ['npm', 'test'] })
    const full: SessionView = {
      session: session({ name: 'fix', harness: 'claude', native: '0000-native' }),
      run,
      liveness: 'alive',
      pid: 200,
      activity: { state: 'waiting', since: NOW - 5000, how: 'hook' },
      note: 'it waits for its keeper',
      tasks: [
        { run: child, usage: { cpuMs: 5, whole: false } },
        {
          run: { ...child, id: 'r000000000003', session: 's1.codex-9-7', adopted: true },
          usage: { cpuMs: 0, whole: false, tokens },
          nested: { harness: 'codex', nativeId: '0000-inner', pid: 9, startedBy: { pid: 200, name: 'claude' } },
        },
      ],
      usage: { cpuMs: 70, whole: true },
      tokens: { run: tokens, session: { ...tokens, output: 2400, cost: null }, whole: true, unwatched: { since: NOW - 60_000, tokens } },
      said: { plan: { text: 'move the parser', at: NOW - 60_000 }, result: null },
      unread: 2,
      unreadEarlier: 1,
      entered: true,
      worktree: { path: '/w/x', branch: 'feat', repository: '/r' },
      sharedWith: ['s2 in /a'],
      neighbours: ['s3 in /wt'],
    }
    pinned(sightJson(full), {
      session: 's1',
      name: 'fix',
      run: 'r000000000001',
      epoch: 3,
      state: 'running',
      liveness: 'alive',
      pid: 200,
      keeper: 100,
      dir: '/home/ann/project',
      harness: 'claude',
      nativeId: '0000-native',
      argv: ['claude', '--resume'],
      detached: true,
      tmux: { socket: '/h/tmux/sock', session: 'r000000000001' },
      startedAt: '2026-01-02T10:57:55.000Z',
      endedAt: null,
      exit: null,
      reason: null,
      evidence: [],
      endedBy: null,
      activity: { state: 'waiting', since: '2026-01-02T11:59:55.000Z', how: 'hook' },
      note: 'it waits for its keeper',
      survivors: [],
      owner: { host: 'box', user: 'ann', pid: 200, since: '2026-01-02T10:57:55.000Z', tty: null, attach: 'holdfast attach s1' },
      parent: 'r000000000000',
      tasks: [
        {
          session: 't1',
          run: 'r000000000002',
          state: 'running',
          onRetire: 'cancel',
          argv: ['npm', 'test'],
          startedAt: '2026-01-02T10:57:55.000Z',
          endedAt: null,
          exit: null,
          reason: null,
          usage: { cpuMs: 5, whole: false, tokens: null },
        },
        {
          session: 's1.codex-9-7',
          run: 'r000000000003',
          state: 'running',
          onRetire: 'cancel',
          argv: ['npm', 'test'],
          startedAt: '2026-01-02T10:57:55.000Z',
          endedAt: null,
          exit: null,
          reason: null,
          usage: {
            cpuMs: 0,
            whole: false,
            tokens: { input: 8100, output: 1200, cacheRead: 3000, cacheWrite: 40, total: 12_340, cost: 0.12 },
          },
          nested: { harness: 'codex', nativeId: '0000-inner', pid: 9, startedBy: { pid: 200, name: 'claude' }, unwatched: null },
        },
      ],
      usage: {
        cpuMs: 70,
        whole: true,
        tokens: { input: 8100, output: 1200, cacheRead: 3000, cacheWrite: 40, total: 12_340, cost: 0.12 },
        sessionTokens: { input: 8100, output: 2400, cacheRead: 3000, cacheWrite: 40, total: 13_540, cost: null },
        tokensWhole: true,
        unwatched: {
          since: '2026-01-02T11:59:00.000Z',
          tokens: { input: 8100, output: 1200, cacheRead: 3000, cacheWrite: 40, total: 12_340, cost: 0.12 },
        },
      },
      budget: 200_000,
      budgetCost: null,
      containment: { level: 'cgroup', path: '/cg/holdfast-i1-r000000000001', entered: true },
      adopted: false,
      worktree: { path: '/w/x', branch: 'feat', repository: '/r' },
      said: { plan: { text: 'move the parser', at: '2026-01-02T11:59:00.000Z' }, result: null },
      unread: 2,
      unreadEarlier: 1,
      sharedWith: ['s2 in /a'],
      neighbours: ['s3 in /wt'],
    })
  })

  test('a run that stops: its exit so far, the reason, and its survivors by name', () => {
    const survivors = [{ pid: 9, name: 'sleep', why: 'it did not end' }]
    const run = stopping({ intent, survivors, exit: { code: 137, signal: 'SIGKILL' } })
    pinned(sightJson(sight({ run, liveness: 'unknown', note: 'its keeper cannot be looked at' })), {
      session: 's1',
      name: null,
      run: 'r000000000001',
      epoch: 3,
      state: 'stopping',
      liveness: 'unknown',
      pid: 200,
      keeper: 100,
      dir: '/home/ann/project',
      harness: null,
      nativeId: null,
      argv: ['claude', '--resume'],
      detached: false,
      tmux: null,
      startedAt: '2026-01-02T10:57:55.000Z',
      endedAt: null,
      exit: { code: 137, signal: 'SIGKILL' },
      reason: 'asked by ann',
      evidence: [],
      endedBy: null,
      activity: null,
      note: 'its keeper cannot be looked at',
      survivors: [{ pid: 9, name: 'sleep', why: 'it did not end' }],
      owner: { host: 'box', user: 'ann', pid: 200, since: '2026-01-02T10:57:55.000Z', tty: '/dev/pts/3', attach: null },
      parent: null,
      tasks: [],
      usage: null,
      budget: null,
      budgetCost: null,
      containment: { level: 'cgroup', path: '/cg/holdfast-i1-r000000000001' },
      adopted: false,
      worktree: null,
    })
  })
})

describe('ls --json pins', () => {
  test('a run that is over: no owner, the evidence, and other owners of its conversation', () => {
    const run = ended({ containment: { level: 'none', why: 'no cgroup' }, adopted: true, usage: { cpuMs: 90, whole: true } })
    const duplicateOf = [{ session: null, pid: 300, how: 'proven' as const }]
    pinned(managedJson(sight({ run, liveness: 'dead', pid: null, duplicateOf })), {
      session: 's1',
      name: null,
      run: 'r000000000001',
      epoch: 3,
      state: 'completed',
      liveness: 'dead',
      pid: null,
      keeper: 100,
      dir: '/home/ann/project',
      harness: null,
      nativeId: null,
      argv: ['claude', '--resume'],
      detached: false,
      tmux: null,
      startedAt: '2026-01-02T10:57:55.000Z',
      endedAt: '2026-01-02T11:58:55.000Z',
      exit: { code: 0, signal: null },
      reason: 'exit code 0',
      evidence: ["the keeper's exit record: exit code 0", 'no process of it was found'],
      endedBy: 'keeper',
      activity: null,
      note: null,
      survivors: [],
      owner: null,
      parent: null,
      tasks: [],
      usage: { cpuMs: 90, whole: true, tokens: null },
      budget: null,
      budgetCost: null,
      containment: { level: 'none', why: 'no cgroup' },
      adopted: true,
      worktree: null,
      managed: true,
      duplicateOf: [{ session: null, pid: 300, how: 'proven' }],
    })
  })
})
