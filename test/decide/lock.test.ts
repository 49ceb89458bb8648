import { describe, expect, test } from 'vitest'
import { areWorktrees, isDelegated, isOwner, leftOf, lockVerdict, relationOf, type Seen, standing, standingOf } from '../../src/decide/index.ts'
import type { Directory, HandHolder, LiveRun, Relation, Repository } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { alive, directory, empty, gone, harness, lock, member, NOW, place, record, running, starting, unknown } from './build.ts'

const worktree = (path: string, top: string, common = '/repo/.git'): Directory => {
  const repository: Repository = { common: `1:${common}`, top: `1:${top}`, root: top }
  return directory(path, { repository })
}

describe('how a wanted directory lies to a held one', () => {
  const cases: readonly [wanted: Directory, held: Directory, relation: Relation | null][] = [
    [directory('/a'), directory('/a'), 'same'],
    [directory('/a/b/c'), directory('/a'), 'inside'],
    [directory('/a'), directory('/a/b/c'), 'around'],
    [directory('/'), directory('/a/b'), 'around'],
    [directory('/a/b'), directory('/'), 'inside'],
    [directory('/a/bc'), directory('/a/b'), null],
    [directory('/a/b'), directory('/a/bc'), null],
    [directory('/b'), directory('/a'), null],
    // A bind mount has other folders above it, but its own place in its file system.
    [directory('/m', { key: '1:/a/b', inner: '1@/a/b' }), directory('/a/b'), 'same'],
    [directory('/m', { key: '1:/a/b', inner: '1@/a/b', above: ['1:/', '1@/a', '1@/'] }), directory('/a'), 'inside'],
    [directory('/a'), directory('/m', { key: '1:/a/b', inner: '1@/a/b', above: ['1:/', '1@/a', '1@/'] }), 'around'],
    [directory('/a', { key: '2:/a', inner: '2@/a', above: [] }), directory('/a'), null],
    // What is mounted below is part of it.
    [directory('/o'), directory('/p', { below: ['1@/o'] }), 'inside'],
    [directory('/o/x'), directory('/p', { below: ['1@/o'] }), 'inside'],
    [directory('/p', { below: ['1@/o'] }), directory('/o'), 'around'],
    [directory('/p', { below: ['1@/o/x'] }), directory('/o'), 'around'],
    [directory('/q'), directory('/p', { below: ['1@/o'] }), null],
    // Linked worktrees of one repository do not touch, wherever they lie.
    [worktree('/repo/wt', '/repo/wt'), worktree('/repo', '/repo'), null],
    [worktree('/repo', '/repo'), worktree('/repo/wt', '/repo/wt'), null],
    [worktree('/repo/wt/src', '/repo/wt'), worktree('/repo', '/repo'), null],
    [worktree('/repo/wt/src', '/repo/wt'), worktree('/repo/wt', '/repo/wt'), 'inside'],
    [worktree('/repo/wt', '/repo/wt'), worktree('/repo/wt', '/repo/wt'), 'same'],
    // Another repository inside (a submodule) does, and so does a folder around it that is in none.
    [worktree('/repo/sub', '/repo/sub', '/repo/.git/modules/sub'), worktree('/repo', '/repo'), 'inside'],
    [worktree('/repo/wt', '/repo/wt'), directory('/'), 'inside'],
    [directory('/'), worktree('/repo/wt', '/repo/wt'), 'around'],
  ]
  test.each(cases)('%#: $path', (wanted, held, relation) => expect(relationOf(wanted, standingOf(held))).toBe(relation))

  test('neighbours are in worktrees of one repository, not in one worktree', () => {
    expect(areWorktrees(worktree('/repo', '/repo'), worktree('/wt', '/wt'))).toBe(true)
    expect(areWorktrees(worktree('/repo', '/repo'), worktree('/repo/src', '/repo'))).toBe(false)
    expect(areWorktrees(worktree('/repo', '/repo'), worktree('/x', '/x', '/x/.git'))).toBe(false)
    expect(areWorktrees(worktree('/repo', '/repo'), directory('/wt'))).toBe(false)
  })
})

describe('where a held directory is by now', () => {
  const held = directory('/a/b', { key: '1:7:100' })
  const never = (): never => {
    throw new Error('nobody has to be asked')
  }
  test('where it was', () => expect(standing(held, directory('/a/b', { key: '1:7:100' }), never)?.names).toEqual(['1:7:100', '1@/a/b']))
  test('an older record does not tell the time of birth: the same number is the same', () => {
    expect(standing({ ...held, key: '1:7' }, held, never)?.names).toEqual(['1:7:100', '1@/a/b'])
    expect(standing(held, { ...held, key: '1:7' }, never)?.names).toEqual(['1:7', '1@/a/b'])
    expect(standing({ ...held, key: '1:7' }, { ...held, key: '1:77' }, () => null)?.names).toEqual(['1:7'])
  })
  verifies('lock-life', 'deleted and made anew under the same number: the new one is another, and what stands above the old one is kept', () => {
    const now = standing(held, directory('/a/b', { key: '1:7:200' }), () => null)
    expect(now).toEqual({ names: ['1:7:100'], above: ['1:/a', '1:/'], below: [], repository: null })
    expect(relationOf(directory('/a/b', { key: '1:7:200' }), now ?? never())).toBeNull()
    expect(relationOf(directory('/a/b/c', { above: ['1:7:200', '1@/a/b', '1:/a', '1@/a'] }), now ?? never())).toBeNull()
    expect(relationOf(directory('/a'), now ?? never())).toBe('around')
    // Made anew as well.
    expect(relationOf(directory('/a', { key: '1:8' }), now ?? never())).toBeNull()
  })
  verifies('lock-life', 'deleted for certain, as one who worked in it tells: nothing is in the way', () => {
    expect(standing(held, null, () => 'deleted')).toBeNull()
  })
  verifies('lock-life', 'renamed: where those who work in it are', () => {
    const moved = directory('/c/moved', { key: '1:7:100' })
    const now = standing(held, null, () => moved)
    expect(now).toEqual(standingOf(moved))
    expect(relationOf(directory('/a'), now ?? never())).toBeNull()
    expect(relationOf(directory('/c'), now ?? never())).toBe('around')
  })
  test('one who works elsewhere tells nothing', () => {
    expect(standing(held, null, () => directory('/elsewhere'))).toEqual({ names: ['1:7:100'], above: ['1:/a', '1:/'], below: [], repository: null })
  })
})

describe('a limit', () => {
  const limit = { ms: 10_000, ticks: 5000, at: NOW + 10_000 }
  const left = (ticks: number, clock = NOW, here = place): number => leftOf(limit, place, { here, ticks, at: clock })
  verifies('unknown', 'no clock that somebody sets frees or keeps a lock in the same boot', () => {
    expect(left(5999)).toBe(10)
    expect(left(6000)).toBe(0)
    expect(left(9000)).toBe(0)
    expect(left(5000, NOW + 1e9)).toBe(10_000)
    expect(left(6000, NOW - 1e9)).toBe(0)
  })
  test('after a boot, in another time namespace, or where the boot is not known, the clock is all there is', () => {
    for (const here of [
      { ...place, boot: 'b2' },
      { ...place, timeNamespace: 'time:[2]' },
      { ...place, boot: '' },
    ]) {
      expect(left(0, NOW + 9_999, here)).toBe(1)
      expect(left(0, NOW + 10_000, here)).toBe(0)
    }
  })
})

describe('whose lock it is', () => {
  const shell = { pid: 70, ticks: 7 }
  const byProcess: HandHolder = { kind: 'process', by: shell, name: 'bash', limit: null }
  const byTime: HandHolder = { kind: 'time', limit: { ms: 1, ticks: 1, at: 1 } }
  const hand = (holder: HandHolder, run: string | null = null) => lock({ holder, run, user: 'ann', host: 'box' })
  const nobody = new Set<string>()

  test('what the holder itself starts is delegated, and what the runs around us took', () => {
    expect(isDelegated(hand(byProcess), nobody, [{ pid: 1, ticks: 1 }, shell])).toBe(true)
    expect(isDelegated(hand(byProcess), nobody, [{ pid: 70, ticks: 8 }])).toBe(false)
    expect(isDelegated(hand(byTime), nobody, [shell])).toBe(false)
    expect(isDelegated(hand(byTime, 'r9'), new Set(['r9']), [])).toBe(true)
    expect(isDelegated(lock({ run: 'r1' }), new Set(['r1']), [])).toBe(true)
    expect(isDelegated(lock({ run: 'r1' }), new Set(['r2']), [shell])).toBe(false)
  })
  test('its owner is its holder, or what that started; of one that only the time ends, its user', () => {
    const from = (origins: { pid: number; ticks: number }[], user = 'bob', host = 'box') => ({ origins, user, host })
    expect(isOwner(hand(byProcess), from([{ pid: 1, ticks: 1 }, shell]))).toBe(true)
    expect(isOwner(hand(byProcess), from([{ pid: 70, ticks: 8 }]))).toBe(false)
    expect(isOwner(hand(byProcess), from([], 'ann'))).toBe(false)
    expect(isOwner(hand(byTime), from([], 'ann'))).toBe(true)
    expect(isOwner(hand(byTime), from([], 'ann', 'other'))).toBe(false)
    expect(isOwner(hand(byTime), from([]))).toBe(false)
    expect(isOwner(lock(), from([shell], 'ann'))).toBe(false)
  })
})

describe('what is true of a lock that a run has', () => {
  const told = (over: Partial<Seen>, run: LiveRun = running()): string => {
    const found = lockVerdict(run, { ...nothing, ...over }, harness)
    return found.kind === 'held' && found.passing ? 'passing' : found.kind === 'free' && found.ending !== null ? 'ended' : found.kind
  }
  const nothing: Seen = { launcher: gone(), keeper: gone(), harness: gone(), tree: empty, exit: null, notStarted: null, intent: null }
  const members = { kind: 'members', members: [member(300)] } as const
  verifies('lock-life', 'any member of the tree holds it, whatever wrapper or keeper died; the last one that is gone frees it', () => {
    expect(told({ harness: alive })).toBe('held')
    expect(told({ harness: alive, keeper: alive })).toBe('held')
    expect(told({ tree: members })).toBe('held')
    // A daemon that is not of it works on it.
    expect(lockVerdict(running(), { ...nothing, tree: { ...members, members: [] } }, harness)).toMatchObject({
      why: "its harness's daemon still works on it",
    })
    expect(told({ tree: members }, running({ until: 'tree' }))).toBe('held')
    expect(told({})).toBe('ended')
  })
  test('while its keeper sees to what is left, it is waited for; with nothing left, how it ended may still be unwritten', () => {
    expect(told({ keeper: alive, tree: members, exit: record(0) })).toBe('passing')
    expect(told({ keeper: alive })).toBe('free')
  })
  verifies('unknown', 'what cannot be looked at is held against everybody, and freed by nothing', () => {
    expect(told({ harness: unknown() })).toBe('unknown')
    expect(told({ tree: unknown() })).toBe('unknown')
    expect(told({ keeper: unknown() })).toBe('unknown')
  })
  test('one that is being started holds it, before anything of it runs', () => {
    expect(told({ keeper: null, harness: null, launcher: alive }, starting())).toBe('held')
    expect(told({ keeper: null, harness: null }, starting())).toBe('ended')
  })
})
