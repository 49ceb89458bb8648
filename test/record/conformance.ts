import { expect, test } from 'vitest'
import type { Store } from '../../src/model/index.ts'
import { END_STATES, LIVE_STATES } from '../../src/model/index.ts'
import { directory } from '../decide/build.ts'
import { verifies } from '../requirements.ts'
import { aClaim, anEnding, aRun, end, inStore, keeper, type OpenStore, started } from './examples.ts'

/** What every store has to do, whatever it is made of. */
export function storeConformance(name: string, open: OpenStore): void {
  const withStore = inStore(open)
  verifies(
    'epoch',
    `${name}: a claim on an epoch somebody else has taken is lost`,
    withStore(async (store) => {
      const run = await started(store, aRun('s'))
      await end(store, run, anEnding(), null, 5)
      expect(await store.claims.claim(aClaim(aRun('s', 1)))).toEqual({ kind: 'lost', why: 'epoch' })
      expect(await store.claims.claim(aClaim(aRun('s', 3)))).toEqual({ kind: 'lost', why: 'epoch' })
      expect(await store.claims.claim(aClaim(aRun('s', 2)))).toEqual({ kind: 'won', epoch: 2 })
    }),
  )

  verifies(
    'one-owner',
    `${name}: a session with a live run cannot be claimed, in any live state`,
    withStore(async (store) => {
      const run = aRun('s')
      await store.claims.claim(aClaim(run))
      const next = () => store.claims.claim(aClaim(aRun('s', 2, { dir: '/elsewhere' })))
      expect(await next()).toEqual({ kind: 'lost', why: 'live' })
      await store.claims.recordRunning(run, keeper, 1)
      expect(await next()).toEqual({ kind: 'lost', why: 'live' })
      await store.claims.recordAsked(run, { end: 'stopped', by: 'x', reason: 'y' }, 2)
      expect(await next()).toEqual({ kind: 'lost', why: 'live' })
      expect(await end(store, run, anEnding(), null, 3)).toBe(true)
      expect((await next()).kind).toBe('won')
    }),
  )

  verifies(
    'one-owner',
    `${name}: of many claims at once exactly one wins`,
    withStore(async (store, again) => {
      const stores = [store, await again(), await again()]
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) => (stores[index % 3] as Store).claims.claim(aClaim(aRun('s', 1, { dir: `/d${index}` })))),
      )
      expect(answers.filter((answer) => answer.kind === 'won')).toHaveLength(1)
      for (const other of stores.slice(1)) other.close()
    }),
  )

  verifies(
    'final',
    `${name}: an ended run takes nothing more, and says so`,
    withStore(async (store) => {
      const run = await started(store, aRun('s'))
      expect(await end(store, run, anEnding({ state: 'superseded', reason: 'taken over' }), { pid: 7, ticks: 8 }, 5)).toBe(true)
      const before = await store.runs.get(run.id)
      expect(await store.claims.recordRunning(run, keeper, 6)).toBe(false)
      expect(await store.claims.recordAsked(run, { end: 'stopped', by: 'x', reason: 'y' }, 6)).toBe(false)
      expect(await store.claims.recordExited(run, { code: 1, signal: null }, 6)).toBe(false)
      expect(await store.claims.recordSurvivors(run, [], 6)).toBe(false)
      for (const state of END_STATES)
        expect(await store.claims.recordEnded({ ...run, state: 'running', keeper }, anEnding({ state }), null, 7), state).toBe(false)
      expect(await store.runs.get(run.id)).toEqual(before)
      expect(before).toMatchObject({ state: 'superseded', reason: 'taken over', harness: { pid: 7, ticks: 8 }, endedAt: 5 })
    }),
  )

  verifies(
    'epoch',
    `${name}: a writer with another epoch changes nothing`,
    withStore(async (store) => {
      const run = await started(store, aRun('s'))
      const stale = { ...run, epoch: 9, state: 'running' as const, keeper }
      expect(await store.claims.recordEnded(stale, anEnding(), null, 5)).toBe(false)
      expect(await store.claims.recordAsked(stale, { end: 'stopped', by: 'x', reason: 'y' }, 5)).toBe(false)
      expect(await store.claims.recordExited(stale, { code: 1, signal: null }, 5)).toBe(false)
      expect(await store.claims.recordSurvivors(stale, [{ pid: 5, name: 'x', why: 'y' }], 5)).toBe(false)
      expect(await store.runs.get(run.id)).toMatchObject({ state: 'running', keeper })
      const begun = aRun('begun', 1, { dir: '/begun' })
      await store.claims.claim(aClaim(begun))
      expect(await store.claims.recordRunning({ ...begun, epoch: 9 }, keeper, 5)).toBe(false)
      expect((await store.runs.get(begun.id))?.state).toBe('starting')
    }),
  )

  test(
    `${name}: a budget is read as it was written, in tokens or in dollars`,
    withStore(async (store) => {
      const run = await started(store, aRun('s', 1, { budgetCost: 2.5 }))
      expect(await store.runs.get(run.id)).toMatchObject({ budget: null, budgetCost: 2.5 })
      const other = await started(store, aRun('t', 1, { dir: '/elsewhere', budget: 1000 }))
      expect(await store.runs.get(other.id)).toMatchObject({ budget: 1000, budgetCost: null })
    }),
  )

  test(
    `${name}: the first intent stands, and the exit is kept beside it`,
    withStore(async (store) => {
      const run = await started(store, aRun('s'))
      await store.claims.recordAsked(run, { end: 'superseded', by: 'a', reason: 'first' }, 2)
      await store.claims.recordAsked(run, { end: 'stopped', by: 'b', reason: 'second' }, 3)
      await store.claims.recordExited(run, { code: 143, signal: 'SIGTERM' }, 4)
      await store.claims.recordSurvivors(run, [{ pid: 5, name: 'x', why: 'y' }], 5)
      expect(await store.runs.get(run.id)).toMatchObject({
        state: 'stopping',
        intent: { end: 'superseded', reason: 'first' },
        exit: { code: 143, signal: 'SIGTERM' },
        survivors: [{ pid: 5 }],
      })
      // Each is told once, however often it is said.
      await store.claims.recordExited(run, { code: 1, signal: null }, 6)
      const survivors = [
        { pid: 6, name: 'x', why: 'y' },
        { pid: 5, name: 'x', why: 'y' },
      ]
      expect(await store.claims.recordSurvivors(run, [{ pid: 5, name: 'x', why: 'y' }], 6)).toBe(false)
      expect(await store.claims.recordSurvivors(run, survivors, 7)).toBe(true)
      expect(await store.claims.recordSurvivors(run, survivors.toReversed(), 8)).toBe(false)
      const kinds = (await store.events.list({ session: 's', after: 0, limit: 20 })).map(({ kind }) => kind)
      expect(kinds).toEqual(['claimed', 'running', 'asked', 'exited', 'survivors', 'survivors'])
    }),
  )

  verifies(
    'final',
    `${name}: an end is recorded only for the run that was looked at`,
    withStore(async (store) => {
      const run = aRun('s')
      await store.claims.claim(aClaim(run))
      const looked = { ...run, state: 'starting' as const, keeper: null }
      await store.claims.recordRunning(run, keeper, 1)
      expect(await store.claims.recordEnded(looked, anEnding({ state: 'failed', reason: 'it never started' }), null, 5)).toBe(false)
      expect(await store.claims.recordEnded({ ...run, state: 'running', keeper: { pid: 9, ticks: 9 } }, anEnding(), null, 5)).toBe(false)
      await store.claims.recordAsked(run, { end: 'stopped', by: 'x', reason: 'y' }, 2)
      expect(await store.claims.recordEnded({ ...run, state: 'running', keeper }, anEnding(), null, 5)).toBe(false)
      expect((await store.runs.get(run.id))?.state).toBe('stopping')
    }),
  )

  test(
    `${name}: a lost store is made again from what directories remember, with every run live and the highest epoch`,
    withStore(async (store) => {
      expect(await store.events.newest()).toBeNull()
      const records = [aRun('s', 3), aRun('s', 2), aRun('t', 1)].map((run) => ({
        record: { ...run, keeper: run.epoch === 2 ? null : keeper },
        directory: directory(run.dir),
        native: run.epoch === 2 ? null : { harness: 'claude', id: `${run.session}-native` },
      }))
      const ids = records.map(({ record }) => record.id)
      expect(await store.runs.unrecorded(ids)).toEqual(ids)
      await store.claims.restore(records, 1)
      await store.claims.restore(records, 1)
      expect(await store.runs.unrecorded([...ids, 'r000000000000'])).toEqual(['r000000000000'])
      expect(await store.runs.unrecorded([])).toEqual([])
      expect((await store.runs.ofSession('s', 9)).map(({ epoch, state }) => [epoch, state])).toEqual([
        [3, 'running'],
        [2, 'starting'],
      ])
      expect(await store.claims.claim(aClaim(aRun('s', 4, { dir: '/x' })))).toEqual({ kind: 'lost', why: 'live' })
      expect((await store.locks.all([], null)).locks.map(({ session }) => session)).toEqual(['s', 's', 't'])
      const roots = records.map(({ record: { id, parent, marker, cookie, place, keeper: root } }) => ({
        id,
        parent,
        marker,
        cookie,
        place,
        root,
        hosted: true,
      }))
      expect(await store.runs.roots()).toEqual(expect.arrayContaining(roots))
      expect((await store.runs.liveWithMarker(records[2]?.record.marker ?? 0))?.session).toBe('t')
      expect(await store.runs.liveWithMarker(1)).toBeNull()
      expect((await store.conversations.owner({ harness: 'claude', id: 's-native' }))?.session.id).toBe('s')
      // The one that began last carries a conversation that two have had, whatever their epochs.
      const native = { harness: 'claude', id: 'both' }
      const both = [aRun('old', 5), aRun('young', 1)].map((run) => ({ record: { ...run, keeper }, directory: null, native }))
      await store.claims.restore(both, 1)
      expect((await store.conversations.owner(native))?.session.id).toBe('young')
    }),
  )

  test(
    `${name}: a task that outlived a takeover is put on record again as one of the new owner`,
    withStore(async (store) => {
      const [first, next] = [aRun('s', 1), aRun('s', 2)]
      const task = (kind: 'adopt' | 'cancel') => aRun(`s.${kind}`, 1, { parent: first.id, task: kind })
      const [kept, cancelled] = [task('adopt'), task('cancel')]
      await store.claims.restore(
        [first, kept, cancelled, next].map((run) => ({ record: { ...run, keeper }, directory: null, native: null })),
        1,
      )
      const parents = [await store.runs.get(kept.id), await store.runs.get(cancelled.id)].map((run) => run?.parent)
      expect(parents).toEqual([next.id, first.id])
    }),
  )

  test(
    `${name}: a store knows its own newest event, what it has on record, and which live runs have no keeper`,
    withStore(async (store) => {
      expect([await store.events.newest(), await store.events.has('1 1 claimed r'), await store.events.has('')]).toEqual([null, false, false])
      const [one, other] = [aRun('s'), aRun('t')]
      await store.claims.claim(aClaim(one))
      const first = await store.events.newest()
      await started(store, other)
      expect(await store.events.newest()).not.toBe(first)
      expect([await store.events.has(first ?? ''), await store.events.has(`${first}x`)]).toEqual([true, false])
      expect(await store.runs.sessions()).toEqual(new Map([one, other].map(({ id, session }) => [id, session])))
      expect((await store.runs.unkept()).map(({ id }) => id)).toEqual([one.id])
      const adopted = aRun('u', 1, { adopted: true, launcher: { pid: 9, ticks: 9 } })
      await store.claims.claim(aClaim(adopted))
      expect((await store.runs.unkept()).map(({ id }) => id)).toEqual([one.id])
      await end(store, other, anEnding(), null, 5)
      const all = { endedBefore: 99, keep: 0, limit: 9 }
      expect([await store.retention.forget({ ...all, only: [] }), await store.retention.forget({ ...all, only: [one.id, other.id] })]).toEqual([
        [],
        [other.id],
      ])
    }),
  )

  verifies(
    'lock-life',
    `${name}: a directory is held by one live run, and free when it ends`,
    withStore(async (store) => {
      const first = aRun('a', 1, { dir: '/d' })
      await store.claims.claim(aClaim(first))
      const second = aRun('b', 1, { dir: '/d' })
      expect(await store.claims.claim(aClaim(second))).toEqual({ kind: 'lost', why: 'directory' })
      expect((await store.sessions.find('b', 'exact')).kind).toBe('none')
      expect((await store.locks.all([], null)).locks.map(({ run }) => run)).toEqual([first.id])
      expect((await store.locks.all([first.id], null)).kin).toEqual(new Set([first.id]))
      expect((await store.claims.claim(aClaim(second, { share: [], seenLock: 1 }))).kind).toBe('won')
      const child = aRun('c', 1, { dir: '/d', parent: second.id })
      expect((await store.claims.claim(aClaim(child, { ancestors: [first.id, second.id] }))).kind).toBe('won')
      expect((await store.sessions.snapshot('live', 10)).locks).toHaveLength(3)
      for (const run of [first, second, child]) expect(await end(store, run, anEnding({ state: 'lost' }), null, 9)).toBe(true)
      expect((await store.sessions.snapshot('live', 10)).locks).toEqual([])
      expect((await store.claims.claim(aClaim(aRun('d', 1, { dir: '/d' })))).kind).toBe('won')
    }),
  )

  test(
    `${name}: a run comes back as it was written`,
    withStore(async (store) => {
      const run = aRun('s', 1, { tty: '/dev/pts/1', deadlineAt: 99, until: 'tree', detached: false, marker: null })
      await store.claims.claim(aClaim(run, { keeper }))
      expect(await store.runs.get(run.id)).toEqual({ ...run, state: 'running', keeper })
    }),
  )

  test(
    `${name}: sessions are found by id, name and unambiguous beginning`,
    withStore(async (store) => {
      await store.claims.claim(aClaim(aRun('alpha-1'), { name: 'web' }))
      await store.claims.claim(aClaim(aRun('alpha-2')))
      await store.claims.claim(aClaim(aRun('a_pha')))
      const id = async (reference: string, how: 'exact' | 'prefix' = 'prefix') => {
        const found = await store.sessions.find(reference, how)
        return found.kind === 'found' ? found.view.session.id : found.kind
      }
      expect([await id('alpha-1'), await id('web'), await id('we'), await id('alpha-2', 'exact')]).toEqual([
        'alpha-1',
        'alpha-1',
        'alpha-1',
        'alpha-2',
      ])
      expect([await id('alpha'), await id('alpha', 'exact'), await id('nope'), await id('a_'), await id('%')]).toEqual([
        'ambiguous',
        'none',
        'none',
        'a_pha',
        'none',
      ])
      expect(await store.claims.claim(aClaim(aRun('other'), { name: 'web' }))).toEqual({ kind: 'lost', why: 'name' })
      expect(await store.claims.claim(aClaim(aRun('other'), { name: 'alpha-2' }))).toEqual({ kind: 'lost', why: 'name' })
    }),
  )

  test(
    `${name}: a snapshot of the live has only the live`,
    withStore(async (store) => {
      const ended = await started(store, aRun('old'))
      await end(store, ended, anEnding(), null, 5)
      await started(store, aRun('new'))
      const live = (await store.sessions.snapshot('live', 10)).views
      expect(live.map(({ session }) => session.id)).toEqual(['new'])
      for (const { run } of live) expect(LIVE_STATES).toContain(run?.state)
      expect((await store.sessions.snapshot('all', 10)).views.map(({ session }) => session.id).sort()).toEqual(['new', 'old'])
      expect(await store.runs.live(10)).toEqual({ views: live, unreadable: [] })
      // Each run's lock goes with its end: none is astray.
      expect(await store.locks.strays()).toEqual([])
    }),
  )

  test(
    `${name}: a snapshot of some runs has only these; and where all work is told in few words`,
    withStore(async (store) => {
      const [one, two] = [await started(store, aRun('one')), await started(store, aRun('two'))]
      const all = await store.sessions.snapshot('live', 10)
      const some = await store.sessions.snapshot('live', 10, [two.id, 'r000000000000'])
      expect(some.views).toEqual(all.views.filter(({ run }) => run?.id === two.id))
      expect(some.locks).toEqual(all.locks.filter(({ run }) => run === two.id))
      expect(await store.sessions.snapshot('all', 10, [])).toEqual({ views: [], locks: [], unreadable: [] })
      const held = (id: string) => all.locks.find(({ run }) => run === id)?.directory ?? null
      const places = await store.locks.workplaces()
      expect(places.toSorted((a, b) => a.run.localeCompare(b.run))).toEqual(
        [one.id, two.id].toSorted((a, b) => a.localeCompare(b)).map((id) => ({ run: id, held: held(id) })),
      )
      await end(store, one, anEnding(), null, 5)
      expect((await store.locks.workplaces()).map(({ run }) => run)).toEqual([two.id])
    }),
  )
}
