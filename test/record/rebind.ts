import { expect, test } from 'vitest'
import type { LiveRun, RebindAnswer, RunBase, Store } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { aClaim, anEnding, aRun, inStore, type OpenStore } from './examples.ts'

/** What every store has to do when a session's true id is another one. */
export function rebindConformance(name: string, open: OpenStore): void {
  const withStore = inStore(open)
  const live = async (store: Store, session: string, more: Parameters<typeof aClaim>[1] = {}, epoch = 1): Promise<LiveRun> => {
    const run = aRun(session, epoch, { dir: `/${session}-${epoch}` })
    expect(await store.claims.claim(aClaim(run, { keeper: { pid: 7, ticks: 8 }, ...more }))).toEqual({ kind: 'won', epoch })
    return (await store.runs.get(run.id)) as LiveRun
  }
  const rebind = (store: Store, session: string, to: string, epoch = 1): Promise<RebindAnswer> =>
    store.sessions.rebind({ session, epoch, to, native: null, how: 'a test', at: 5 })
  const idOf = async (store: Store, reference: string): Promise<string | null> => {
    const found = await store.sessions.find(reference, 'exact')
    return found.kind === 'found' ? found.view.session.id : null
  }
  /** Every place in which the store names a session. */
  const named = async (store: Store): Promise<Set<string | null>> => {
    const { views, locks } = await store.sessions.snapshot('all', 99)
    const events = await store.events.list({ session: null, after: 0, limit: 99 })
    const runs = (await Promise.all(views.map(({ session }) => store.runs.ofSession(session.id, 99)))).flat()
    return new Set([
      ...views.flatMap(({ session, run }) => [session.id, ...(run === null ? [] : [run.session])]),
      ...runs.map(({ session }) => session),
      ...locks.map(({ session }) => session),
      ...events.map(({ session }) => session),
    ])
  }

  verifies(
    'self',
    `${name}: a session that is rebound is nowhere under its old id, and found by it all the same`,
    withStore(async (store) => {
      const run = await live(store, 'x', { name: 'mine', harness: 'claude', native: 'aaaa-1' })
      expect(await rebind(store, 'x', 'y')).toEqual({ kind: 'bound', changed: true, aside: null, moved: ['y'] })
      expect(await named(store)).toEqual(new Set(['y']))
      for (const reference of ['x', 'y', 'mine', 'aaaa-1']) expect(await idOf(store, reference)).toBe('y')
      expect(await store.sessions.find('y', 'exact')).toMatchObject({
        view: { session: { name: 'mine', native: 'aaaa-1', epoch: 1 }, run: { id: run.id } },
      })
      // Whoever still has it as it was changes nothing about that, and is not lost.
      expect(await store.claims.recordAsked(run, { end: 'stopped', by: 'me', reason: 'a test' }, 6)).toBe(true)
      const stopping = (await store.runs.get(run.id)) as LiveRun
      expect(await store.claims.recordEnded({ ...stopping, session: 'x' }, anEnding({ state: 'stopped' }), null, 7)).toBe(true)
      expect(await named(store)).toEqual(new Set(['y']))
      const kinds = (await store.events.list({ session: 'y', after: 0, limit: 99 })).map(({ kind }) => kind)
      expect(kinds).toEqual(['claimed', 'running', 'rebound', 'asked', 'ended'])
      // Its next run goes on where the epoch was.
      expect(await store.claims.claim(aClaim(aRun('y', 2, { dir: '/next' })))).toEqual({ kind: 'won', epoch: 2 })
    }),
  )

  verifies(
    'self',
    `${name}: rebound twice, back, and to what it is called already`,
    withStore(async (store) => {
      await live(store, 'x')
      expect(await rebind(store, 'x', 'x')).toEqual({ kind: 'bound', changed: false, aside: null, moved: [] })
      expect(await rebind(store, 'x', 'y')).toMatchObject({ kind: 'bound', changed: true })
      // Who looked before finds nothing to move: it looks again.
      expect(await rebind(store, 'x', 'z')).toEqual({ kind: 'lost' })
      expect(await rebind(store, 'y', 'z', 2)).toEqual({ kind: 'lost' })
      expect(await rebind(store, 'y', 'x')).toMatchObject({ kind: 'bound', changed: true, aside: null })
      for (const reference of ['x', 'y']) expect(await idOf(store, reference)).toBe('x')
      expect([await store.sessions.formerIds('x'), await store.sessions.formerIds('y')]).toEqual([['y'], []])
      expect(await named(store)).toEqual(new Set(['x']))
    }),
  )

  verifies(
    'one-owner',
    `${name}: an id that another live session has, by whatever name, is not taken, and both are told`,
    withStore(async (store) => {
      await live(store, 'x')
      await live(store, 'y', { name: 'mine', harness: 'claude', native: 'aaaa-1' })
      for (const to of ['y', 'mine', 'aaaa-1'])
        expect(await rebind(store, 'x', to)).toMatchObject({ kind: 'taken', by: { session: { id: 'y' }, run: { session: 'y' } } })
      expect(
        await store.sessions.rebind({ session: 'x', epoch: 1, to: 'n', native: { harness: 'claude', id: 'aaaa-1' }, how: '', at: 5 }),
      ).toMatchObject({
        kind: 'taken',
      })
      expect(await named(store)).toEqual(new Set(['x', 'y']))
      // Each is told once of each id.
      await rebind(store, 'x', 'y')
      for (const session of ['x', 'y'])
        expect((await store.events.list({ session, after: 0, limit: 99 })).filter(({ kind }) => kind === 'conflict')).toHaveLength(4)
    }),
  )

  verifies(
    'one-owner',
    `${name}: an id that a live session has as its conversation's is not taken, although a session that is over is called so`,
    withStore(async (store) => {
      const old = await live(store, 'aaaa-1', { harness: 'claude', native: 'aaaa-1' })
      await store.claims.recordEnded(old, anEnding(), null, 3)
      await live(store, 'owner', { harness: 'claude', native: 'aaaa-1' })
      await live(store, 'x')
      expect(await rebind(store, 'x', 'aaaa-1')).toMatchObject({ kind: 'taken', by: { session: { id: 'owner' } } })
      expect((await store.conversations.owner({ harness: 'claude', id: 'aaaa-1' }))?.session.id).toBe('owner')
    }),
  )

  verifies(
    'self',
    `${name}: what a live session was called stays its own, also when another one goes on with that conversation`,
    withStore(async (store) => {
      const a = await live(store, 'aaaa-1', { harness: 'claude', native: 'aaaa-1' })
      await store.conversations.bind(a, { harness: 'claude', id: 'bbbb-2' }, { how: 'hook' }, 5)
      const b = await live(store, 'b', { harness: 'claude', native: null })
      expect(await store.conversations.bind(b, { harness: 'claude', id: 'aaaa-1' }, { how: 'hook' }, 6)).toMatchObject({ kind: 'bound' })
      // Its environment still says so.
      expect(await idOf(store, 'aaaa-1')).toBe('bbbb-2')
      expect((await store.conversations.owner({ harness: 'claude', id: 'aaaa-1' }))?.session.id).toBe('b')
      // A native id that it only carried once is found where it is carried now.
      await store.conversations.bind(b, { harness: 'claude', id: 'cccc-3' }, { how: 'hook' }, 7)
      const c = await live(store, 'c', { harness: 'claude', native: null })
      await store.conversations.bind(c, { harness: 'claude', id: 'dddd-4' }, { how: 'hook' }, 8)
      await store.conversations.bind(c, { harness: 'claude', id: 'eeee-5' }, { how: 'hook' }, 9)
      await store.conversations.bind(b, { harness: 'claude', id: 'dddd-4' }, { how: 'hook' }, 10)
      expect(await idOf(store, 'dddd-4')).toBe('b')
    }),
  )

  test(
    `${name}: tasks that are called after their session are called after its new id`,
    withStore(async (store) => {
      const run = await live(store, 'x')
      const task = aRun('x.review', 1, { parent: run.id, task: 'cancel', dir: '/t' })
      await store.claims.claim(aClaim(task, { keeper: { pid: 9, ticks: 9 }, ancestors: [run.id] }))
      const own = aRun('mine', 1, { parent: run.id, task: 'cancel', dir: '/u' })
      await store.claims.claim(aClaim(own, { keeper: { pid: 9, ticks: 9 }, ancestors: [run.id] }))
      expect(await rebind(store, 'x', 'y')).toMatchObject({ kind: 'bound', moved: ['y.review', 'y'] })
      expect(await named(store)).toEqual(new Set(['y', 'y.review', 'mine']))
      expect(await idOf(store, 'x.review')).toBe('y.review')
      expect((await store.runs.tasks('live', 'y', 9)).map(({ session }) => session).toSorted()).toEqual(['mine', 'y.review'])
    }),
  )

  verifies(
    'one-owner',
    `${name}: of two directories that call themselves the same run of a session none is dropped when the store was lost`,
    withStore(async (store) => {
      const [one, other] = [aRun('y', 1, { dir: '/one' }), aRun('y', 1, { dir: '/other' })]
      const record = (run: RunBase) => ({ record: { ...run, keeper: { pid: 7, ticks: 8 }, former: ['x'] }, directory: null, native: null })
      for (let twice = 0; twice < 2; twice++) await store.claims.restore([record(one), record(other)], 1)
      const { views } = await store.sessions.snapshot('live', 9)
      expect(views.map(({ session, run }) => [session.id, run?.id]).toSorted()).toEqual([
        ['y', one.id],
        ['y.before-1', other.id],
      ])
      expect(await idOf(store, 'x')).toBe('y')
    }),
  )

  test(
    `${name}: a session that is over and had the id steps aside with its history`,
    withStore(async (store) => {
      const old = await live(store, 'y', { name: 'mine' })
      await store.claims.recordEnded(old, anEnding(), null, 3)
      await live(store, 'x')
      const answer = await rebind(store, 'x', 'y')
      expect(answer).toEqual({ kind: 'bound', changed: true, aside: 'y.before-1', moved: ['y.before-1', 'y'] })
      expect(await store.sessions.find('y', 'exact')).toMatchObject({ view: { session: { id: 'y' }, run: { state: 'running' } } })
      expect(await store.sessions.find('y.before-1', 'exact')).toMatchObject({
        view: { session: { name: 'mine', wentTo: 'y' }, run: { id: old.id } },
      })
      expect(await idOf(store, 'mine')).toBe('y.before-1')
      expect((await store.events.list({ session: 'y.before-1', after: 0, limit: 9 })).map(({ run }) => run)).toContain(old.id)
    }),
  )

  verifies(
    'one-owner',
    `${name}: of many who rebind one session at once all are answered, and it has one id; of many sessions one gets an id`,
    withStore(async (store, again) => {
      const stores = [store, await again(), await again()]
      const at = (index: number): Store => stores[index % 3] as Store
      await live(store, 'x')
      const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => rebind(at(index), 'x', `n${index}`)))
      expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['bound', ...Array.from({ length: 11 }, () => 'lost')])
      expect((await named(store)).size).toBe(1)
      for (const session of ['a', 'b', 'c', 'd']) await live(store, session)
      const taken = await Promise.all(['a', 'b', 'c', 'd'].map((session, index) => rebind(at(index), session, 'goal')))
      expect(taken.map(({ kind }) => kind).toSorted()).toEqual(['bound', 'taken', 'taken', 'taken'])
    }),
  )

  verifies(
    'one-owner',
    `${name}: who wanted to begin a session that has got another id meanwhile looks again`,
    withStore(async (store) => {
      const late: RunBase = aRun('x', 1, { dir: '/late' })
      await live(store, 'x')
      await rebind(store, 'x', 'y')
      expect(await store.claims.claim(aClaim(late))).toEqual({ kind: 'lost', why: 'epoch' })
      expect(await store.claims.claim(aClaim(aRun('x', 2, { dir: '/late' })))).toEqual({ kind: 'lost', why: 'epoch' })
      expect(await named(store)).toEqual(new Set(['y']))
    }),
  )

  verifies(
    'self',
    `${name}: a session that is called by its conversation goes with it when that drifts`,
    withStore(async (store) => {
      const run = await live(store, 'aaaa-1', { harness: 'claude', native: 'aaaa-1' })
      const to = { harness: 'claude', id: 'bbbb-2' }
      expect(await store.conversations.bind(run, to, { how: 'hook' }, 5)).toEqual({ kind: 'bound', changed: true, moved: ['bbbb-2'] })
      expect(await named(store)).toEqual(new Set(['bbbb-2']))
      expect(await idOf(store, 'aaaa-1')).toBe('bbbb-2')
      expect(await store.conversations.bind(run, to, { how: 'hook' }, 6)).toEqual({ kind: 'bound', changed: false })
      // One that has a name of ours keeps that.
      const own = await live(store, 'own', { harness: 'claude', native: 'cccc-3' })
      await store.conversations.bind(own, { harness: 'claude', id: 'dddd-4' }, { how: 'hook' }, 7)
      expect(await idOf(store, 'dddd-4')).toBe('own')
    }),
  )
}
