import { expect } from 'vitest'
import type { Directory, Lock, LockRequest, Repository } from '../../src/model/index.ts'
import { directory } from '../decide/build.ts'
import { verifies } from '../requirements.ts'
import { aClaim, aRun, inStore, type OpenStore, place } from './examples.ts'

const byHand = (where: Directory, more: Partial<LockRequest> = {}): LockRequest => ({
  directory: where,
  holder: { kind: 'process', by: { pid: 70, ticks: 7 }, name: 'bash', limit: null },
  place,
  session: null,
  run: null,
  since: 5,
  reason: 'by hand',
  shared: [],
  host: 'here',
  user: 'me',
  seenLock: 0,
  kin: [],
  ...more,
})

const worktree = (path: string, top: string): Directory => {
  const repository: Repository = { common: '1:/repo/.git', top: `1:${top}`, root: top }
  return directory(path, { repository })
}

/** What every store does with directory locks. */
export function lockConformance(name: string, open: OpenStore): void {
  const withStore = inStore(open)
  const won = { kind: 'won', epoch: 1 }
  const lost = { kind: 'lost', why: 'directory' }

  verifies(
    'bounded',
    `${name}: of the locks those that a process holds by hand can be asked for, so many at most`,
    withStore(async (store) => {
      await store.claims.claim(aClaim(aRun('a')))
      await store.locks.take(byHand(directory('/t'), { holder: { kind: 'time', limit: { ms: 5, ticks: 1, at: 2 } } }))
      const seqs = [
        await store.locks.take(byHand(directory('/x'), { seenLock: 9 })),
        await store.locks.take(byHand(directory('/y'), { seenLock: 9 })),
      ]
      const { locks } = await store.retention.remains(9)
      expect(locks.map(({ seq }) => seq).toSorted()).toEqual(seqs)
      expect((await store.retention.remains(1)).locks).toHaveLength(1)
      expect(await Promise.all(locks.map((lock) => store.locks.free(lock, null, 1)))).toEqual([true, true])
      expect(await Promise.all(locks.map((lock) => store.locks.free(lock, null, 1)))).toEqual([false, false])
      expect((await store.retention.remains(9)).locks).toEqual([])
    }),
  )

  /** What came between the look and the claim: held first, wanted then, and whether that is refused. */
  const BETWEEN: readonly [what: string, held: Directory, wanted: Directory, refused: boolean][] = [
    ['the same', directory('/a/b'), directory('/a/b'), true],
    ['the same by another path (a bind mount)', directory('/a/b'), directory('/m', { key: '1:/a/b', inner: '1@/a/b' }), true],
    ['one above', directory('/a'), directory('/a/b/c'), true],
    ['one below', directory('/a/b/c'), directory('/a'), true],
    ['the root', directory('/'), directory('/a'), true],
    ['one beside it', directory('/a/b'), directory('/a/bc'), false],
    ['a linked worktree in it', directory('/repo/wt', worktree('/repo/wt', '/repo/wt')), worktree('/repo', '/repo'), false],
    ['the repository around a worktree', worktree('/repo/src', '/repo'), worktree('/repo/wt', '/repo/wt'), false],
    ['another folder of the same worktree', worktree('/repo/wt', '/repo/wt'), worktree('/repo/wt/src', '/repo/wt'), true],
    ['a folder above the repository', directory('/'), worktree('/repo', '/repo'), true],
  ]
  for (const [what, held, wanted, refused] of BETWEEN) {
    verifies(
      'lock-life',
      `${name}: ${what}, claimed in between, ${refused ? 'refuses' : 'does not refuse'} the claim`,
      withStore(async (store) => {
        expect(await store.claims.claim(aClaim(aRun('a'), { directory: held }))).toEqual(won)
        const seq = await store.locks.take(byHand(wanted))
        expect(seq === null).toBe(refused)
        for (const lock of (await store.locks.all([], null)).locks) if (lock.seq === seq) await store.locks.free(lock, null, 1)
        expect(await store.claims.claim(aClaim(aRun('b'), { directory: wanted }))).toEqual(refused ? lost : won)
      }),
    )
  }

  verifies(
    'lock-life',
    `${name}: what was looked at before is not looked at again in the claim, and is shared only by saying so`,
    withStore(async (store) => {
      const first = aRun('a', 1, { dir: '/d' })
      await store.claims.claim(aClaim(first))
      const { newest, locks } = await store.locks.all([], null)
      expect(await store.claims.claim(aClaim(aRun('b', 1, { dir: '/d' }), { seenLock: newest }))).toEqual(won)
      const share = [{ session: 'a', run: first.id, dir: '/d' }]
      // Whoever came since is not shared with unseen: look again.
      expect(await store.claims.claim(aClaim(aRun('c', 1, { dir: '/d' }), { share, seenLock: newest }))).toEqual(lost)
      const seenLock = (await store.locks.all([], null)).newest
      expect(await store.claims.claim(aClaim(aRun('c', 1, { dir: '/d' }), { share, seenLock }))).toEqual(won)
      expect((await store.locks.all([], null)).locks.map(({ session, shared }) => [session, shared])).toEqual([
        ['a', []],
        ['b', []],
        ['c', share],
      ])
      expect((await store.locks.all([], null)).newest).toBeGreaterThan(newest)
      expect(locks).toHaveLength(1)
      const kinds = async (session: string) =>
        (await store.events.list({ session, after: 0, limit: 9 })).map(({ kind, detail }) => [kind, detail['with']])
      expect(await kinds('a')).toContainEqual(['shared', 'c'])
      expect(await kinds('c')).toContainEqual(['shared', 'a'])
    }),
  )

  verifies(
    'lock-life',
    `${name}: a lock knows its keeper from the moment the run does, and goes with the end of the run, but not with anything else of it`,
    withStore(async (store) => {
      const run = aRun('a', 1, { dir: '/d' })
      const only = async (): Promise<Lock> => (await store.locks.all([], null)).locks[0] as Lock
      await store.claims.claim(aClaim(run))
      expect((await only()).holder).toEqual({
        kind: 'run',
        launcher: run.launcher,
        keeper: null,
        marker: run.marker,
        cookie: run.cookie,
        containment: run.containment,
        adopted: false,
      })
      await store.claims.recordRunning(run, { pid: 7, ticks: 8 }, 5)
      expect(await only()).toMatchObject({
        holder: { keeper: { pid: 7, ticks: 8 } },
        place: run.place,
        session: 'a',
        run: run.id,
        since: run.startedAt,
      })
      const inside = await store.locks.take(byHand(directory('/x'), { run: run.id, session: 'a' }))
      await store.claims.recordEnded({ ...run, state: 'running', keeper: { pid: 7, ticks: 8 } }, END, null, 9)
      expect((await store.locks.all([], null)).locks.map(({ seq }) => seq)).toEqual([inside])
    }),
  )

  verifies(
    'lock-life',
    `${name}: a lock by hand comes back as it was taken, and only that very one is taken away`,
    withStore(async (store) => {
      const limit = { ms: 5000, ticks: 3, at: 9 }
      const request = byHand(worktree('/repo', '/repo'), { holder: { kind: 'time', limit }, reason: 'ä "quoted"\n' })
      const seq = await store.locks.take(request)
      const { seenLock: _seen, kin: _kin, ...taken } = request
      const [lock] = (await store.locks.all([], null)).locks
      expect(lock).toEqual({ ...taken, seq })
      expect(await store.locks.take(byHand(directory('/repo')))).toBeNull()
      expect(await store.locks.free(lock as Lock, null, 5)).toBe(true)
      expect(await store.locks.free(lock as Lock, null, 5)).toBe(false)
      const next = await store.locks.take(byHand(directory('/repo')))
      expect(next).toBeGreaterThan(seq ?? 0)
      expect(await store.locks.free(lock as Lock, null, 5)).toBe(false)
      expect((await store.locks.all([], null)).locks).toHaveLength(1)
    }),
  )

  verifies(
    'one-owner',
    `${name}: one process is adopted once`,
    withStore(async (store) => {
      const adoptee = { adopted: true, launcher: { pid: 500, ticks: 9 } }
      expect(await store.claims.claim(aClaim(aRun('a', 1, adoptee), { directory: directory('/x') }))).toEqual(won)
      expect(await store.claims.claim(aClaim(aRun('b', 1, adoptee), { directory: directory('/y') }))).toEqual({ kind: 'lost', why: 'adopted' })
      const other = { adopted: true, launcher: { pid: 500, ticks: 10 } }
      expect(await store.claims.claim(aClaim(aRun('b', 1, other), { directory: directory('/y') }))).toEqual(won)
    }),
  )

  verifies(
    'lock-life',
    `${name}: a run whose lock is still there is not forgotten, however old it is`,
    withStore(async (store) => {
      const run = aRun('a')
      await store.claims.claim(aClaim(run, { keeper: { pid: 7, ticks: 8 } }))
      await store.locks.take(byHand(directory('/x'), { run: run.id, session: 'a' }))
      await store.claims.recordEnded({ ...run, state: 'running', keeper: { pid: 7, ticks: 8 } }, END, null, 9)
      const all = { endedBefore: 1e15, keep: 0, limit: 9 }
      expect(await store.retention.forgettable(all)).toEqual([])
      for (const lock of (await store.locks.all([], null)).locks) await store.locks.free(lock, null, 1)
      expect(await store.retention.forgettable(all)).toEqual([run.id])
    }),
  )

  verifies(
    'visible',
    `${name}: a lock of a session that is broken is told in its events`,
    withStore(async (store) => {
      await store.claims.claim(aClaim(aRun('a', 1, { dir: '/d' })))
      const [lock] = (await store.locks.all([], null)).locks
      await store.locks.free(lock as Lock, { by: 'ann', reason: 'broken by ann' }, 5)
      expect((await store.events.list({ session: 'a', after: 0, limit: 9 })).at(-1)).toMatchObject({
        kind: 'unlocked',
        detail: { dir: '/d', by: 'ann' },
      })
      await store.locks.take(byHand(directory('/x')))
      await store.locks.free((await store.locks.all([], null)).locks[0] as Lock, { by: 'ann', reason: 'broken by ann' }, 6)
      expect((await store.events.list({ session: null, after: 0, limit: 9 })).at(-1)).toMatchObject({
        kind: 'unlocked',
        session: '-',
        detail: { dir: '/x' },
      })
    }),
  )
}

const END = { state: 'lost', exit: null, reason: 'gone', evidence: [], by: 'a test' } as const
