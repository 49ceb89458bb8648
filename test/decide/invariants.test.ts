import { describe, expect, test } from 'vitest'
import { brokenInvariants } from '../../src/decide/index.ts'
import type { Lock, SessionRecord } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { directory, ended, lock, running, session, starting } from './build.ts'

const view = (run: SessionRecord['run'], over = {}): SessionRecord => ({ session: session(over), run })

describe('sound', () => {
  const cases: readonly [what: string, views: readonly SessionRecord[], locks: readonly Lock[]][] = [
    ['an empty store', [], []],
    ['a session that never ran', [view(null)], []],
    ['an owner with its lock', [view(running())], [lock()]],
    ['an ended run of an earlier epoch', [view(ended({ epoch: 2 }))], []],
    ['an ended run and the live one', [view(ended({ id: 'r1', epoch: 2 })), view(running({ id: 'r2' }))], []],
    ['two sessions with a live run each', [view(running()), { session: session({ id: 's2' }), run: starting({ id: 'r2', session: 's2' }) }], []],
    ['two directories', [], [lock(), lock({ directory: directory('/b'), run: 'r2' })]],
    ['the same inode on two devices', [], [lock(), lock({ directory: directory('/a', { key: '9:/a' }), run: 'r2' })]],
    ['a directory that is shared on purpose', [], [lock(), lock({ run: 'r2', shared: [{ session: 's1', run: 'r1', dir: '/a' }] })]],
  ]
  test.each(cases)('%s', (_what, views, locks) => expect(brokenInvariants(views, locks)).toEqual([]))
})

describe('broken', () => {
  const cases: readonly [what: string, views: readonly SessionRecord[], locks: readonly Lock[], broken: readonly string[]][] = [
    ['an ended run ahead of its session', [view(ended({ id: 'r1', epoch: 4 }))], [], ['run r1 has epoch 4, its session only 3']],
    ['a live run of an earlier epoch', [view(running({ id: 'r1', epoch: 2 }))], [], ['live run r1 is not the owner of s1']],
    ['a directory locked twice', [], [lock(), lock({ run: 'r2', session: 's2' })], ['directory /a is locked twice: by r1 and r2']],
  ]
  test.each(cases)('%s', (_what, views, locks, broken) => expect(brokenInvariants(views, locks)).toEqual(broken))

  verifies('epoch', 'a live run ahead of its session is broken twice over', () => {
    const broken = ['run r1 has epoch 4, its session only 3', 'live run r1 is not the owner of s1']
    expect(brokenInvariants([view(running({ id: 'r1', epoch: 4 }))], [])).toEqual(broken)
  })
  verifies('one-owner', 'two live runs of one session are named', () => {
    const views = [view(running({ id: 'r1' })), view(starting({ id: 'r2' }))]
    expect(brokenInvariants(views, [])).toEqual(['session s1 has two live runs: r1 and r2'])
  })
})

describe('runs inside runs work in one directory by delegation, each with a lock of its own', () => {
  const nested = (id: string, parent: string | null): SessionRecord => ({
    session: session({ id: `s-${id}` }),
    run: running({ id, session: `s-${id}`, parent }),
  })
  const family = [nested('r1', null), nested('r2', 'r1'), nested('r3', 'r2'), nested('r4', 'r1'), nested('r5', null)]
  const locks = (...runs: readonly string[]): Lock[] => runs.map((run) => lock({ run }))
  const cases: readonly [what: string, runs: readonly string[], broken: readonly string[]][] = [
    ['a child', ['r1', 'r2'], []],
    ['a child, whichever comes first', ['r2', 'r1'], []],
    ['a grandchild', ['r1', 'r3'], []],
    ['all three', ['r1', 'r2', 'r3'], []],
    ['two children, of whom neither is in the other', ['r1', 'r2', 'r4'], []],
    ['a stranger', ['r1', 'r2', 'r5'], ['directory /a is locked twice: by r2 and r5']],
    ['a run nobody knows', ['r1', 'r9'], ['directory /a is locked twice: by r1 and r9']],
  ]
  test.each(cases)('%s', (_what, runs, broken) => expect(brokenInvariants(family, locks(...runs))).toEqual(broken))

  test('a circle of parents does not go on for ever', () => {
    const circle = [nested('r1', 'r2'), nested('r2', 'r1'), nested('r3', null)]
    expect(brokenInvariants(circle, locks('r1', 'r3'))).toEqual(['directory /a is locked twice: by r1 and r3'])
  })
})
