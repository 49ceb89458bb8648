import { describe, test } from 'vitest'
import { checkJson, type LockView, lockedJson, lockJson, unlockedJson } from '../../src/show/index.ts'
import { directory, lock, NOW } from '../decide/build.ts'
import { pinned } from './matcher.ts'

const sight = (over: Partial<LockView> = {}): LockView => ({
  lock: lock(),
  movedTo: null,
  state: 'held',
  pid: 200,
  proof: 'its agent is alive',
  leftMs: null,
  sharedWith: [],
  neighbours: [],
  ...over,
})
const limit = { ms: 60_000, ticks: 100, at: NOW + 60_000 }
const byProcess = lock({
  holder: { kind: 'process', by: { pid: 77, ticks: 770 }, name: 'bash', limit: null },
  session: null,
  run: null,
  reason: 'a migration',
})
const byTime = lock({ holder: { kind: 'time', limit }, session: null, run: null, reason: 'mine' })

describe('locks --json pins', () => {
  test('a lock of a run, shared on purpose', () => {
    pinned(lockJson(sight({ sharedWith: ['s2 in /a'], neighbours: ['s3 in /wt'] })), {
      dir: '/a',
      takenAs: '/a',
      pid: 200,
      session: 's1',
      kind: 'run',
      since: '2026-01-02T11:59:55.000Z',
      reason: 'an agent works here',
      run: 'r1',
      state: 'held',
      proof: 'its agent is alive',
      expiresAt: null,
      shared: true,
      sharedWith: ['s2 in /a'],
      neighbours: ['s3 in /wt'],
      holder: {
        session: 's1',
        run: 'r1',
        pid: 200,
        kind: 'run',
        since: '2026-01-02T11:59:55.000Z',
        dir: '/a',
        reason: 'an agent works here',
        host: 'box',
        user: 'ann',
        attach: null,
      },
    })
  })
  test('a lock of one process, which cannot be judged', () => {
    pinned(lockJson(sight({ lock: byProcess, pid: null, state: 'unknown', proof: 'EACCES' })), {
      dir: '/a',
      takenAs: '/a',
      pid: 77,
      session: null,
      kind: 'process',
      since: '2026-01-02T11:59:55.000Z',
      reason: 'a migration',
      run: null,
      state: 'unknown',
      proof: 'EACCES',
      expiresAt: null,
      shared: false,
      sharedWith: [],
      neighbours: [],
      holder: {
        session: null,
        run: null,
        pid: 77,
        kind: 'process',
        since: '2026-01-02T11:59:55.000Z',
        dir: '/a',
        reason: 'a migration',
        host: 'box',
        user: 'ann',
        attach: null,
      },
    })
  })
  test('a lock for a time', () => {
    pinned(lockJson(sight({ lock: byTime, pid: null, leftMs: 60_000, proof: 'its time is not over' })), {
      dir: '/a',
      takenAs: '/a',
      pid: null,
      session: null,
      kind: 'time',
      since: '2026-01-02T11:59:55.000Z',
      reason: 'mine',
      run: null,
      state: 'held',
      proof: 'its time is not over',
      expiresAt: '2026-01-02T12:01:00.000Z',
      shared: false,
      sharedWith: [],
      neighbours: [],
      holder: {
        session: null,
        run: null,
        pid: null,
        kind: 'time',
        since: '2026-01-02T11:59:55.000Z',
        dir: '/a',
        reason: 'mine',
        host: 'box',
        user: 'ann',
        attach: null,
      },
    })
  })
})

describe('lock --check --json pins', () => {
  test('a free directory', () => {
    const free = { dir: '/b', state: 'free', own: false, why: 'nobody holds it', holding: null } as const
    pinned(checkJson(free), { dir: '/b', state: 'free', own: false, why: 'nobody holds it', relation: null, worksIn: null, holder: null })
  })
  test('a directory inside of a held one', () => {
    const holding = { lock: lock({ directory: directory('/b') }), relation: 'inside', worksIn: '/b/d', pid: 200 } as const
    pinned(checkJson({ dir: '/b/c', state: 'held', own: true, why: 'its agent is alive', holding }), {
      dir: '/b/c',
      state: 'held',
      own: true,
      why: 'its agent is alive',
      relation: 'inside',
      worksIn: '/b/d',
      holder: {
        session: 's1',
        run: 'r1',
        pid: 200,
        kind: 'run',
        since: '2026-01-02T11:59:55.000Z',
        dir: '/b',
        reason: 'an agent works here',
        host: 'box',
        user: 'ann',
        attach: null,
      },
    })
  })
})

describe('lock and unlock --json pin', () => {
  const facts = {
    session: null,
    run: null,
    pid: null,
    kind: 'time',
    since: '2026-01-02T11:59:55.000Z',
    dir: '/a',
    reason: 'mine',
    host: 'box',
    user: 'ann',
    attach: null,
  }
  test('a lock that was taken', () => pinned(lockedJson(byTime), { ...facts, expiresAt: '2026-01-02T12:01:00.000Z' }))
  test('a lock that was given back', () => pinned(unlockedJson({ lock: byTime, broken: true }), { ...facts, broken: true }))
})
