import { expect, test } from 'vitest'
import type { LiveRun, Store } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { aClaim, anEnding, aRun, inStore, type OpenStore } from './examples.ts'

/** What every store has to do about tasks and nested runs, and about what may be forgotten. */
export function taskConformance(name: string, open: OpenStore): void {
  const withStore = inStore(open)
  const live = async (store: Store, ...[session, epoch, more]: Parameters<typeof aRun>): Promise<LiveRun> => {
    const run = aRun(session, epoch, more)
    expect((await store.claims.claim(aClaim(run, { keeper: { pid: 7, ticks: 8 } }))).kind).toBe('won')
    return (await store.runs.get(run.id)) as LiveRun
  }

  verifies(
    'one-owner',
    `${name}: a claim adopts the tasks that wait for it, in the same transaction, and no others`,
    withStore(async (store) => {
      const old = await live(store, 's')
      const adopt = await live(store, 's.a', 1, { parent: old.id, task: 'adopt' })
      const cancel = await live(store, 's.c', 1, { parent: old.id, task: 'cancel' })
      const nested = await live(store, 'n', 1, { parent: old.id })
      const over = await live(store, 's.o', 1, { parent: old.id, task: 'adopt' })
      await store.claims.recordEnded(over, anEnding(), null, 4)
      await store.claims.recordEnded(old, anEnding({ state: 'superseded' }), null, 5)
      expect((await store.claims.claim(aClaim(aRun('s', 1, { dir: '/x' })))).kind).toBe('lost')
      expect((await store.runs.get(adopt.id))?.parent).toBe(old.id)
      const next = await live(store, 's', 2)
      const parents = await Promise.all([adopt, cancel, nested, over].map(async ({ id }) => (await store.runs.get(id))?.parent))
      expect(parents).toEqual([next.id, old.id, old.id, old.id])
      const events = await store.events.list({ session: 's.a', after: 0, limit: 9 })
      expect(events.at(-1)).toMatchObject({ kind: 'adopted', run: adopt.id, epoch: 1, detail: { by: next.id, from: old.id, session: 's' } })
      expect((await store.runs.children(next.id)).map(({ id }) => id)).toEqual([adopt.id])
    }),
  )

  verifies(
    'lock-life',
    `${name}: what is started in a run is no stranger in its directory, other sessions are`,
    withStore(async (store) => {
      const claim = async (session: string, ancestors: string[], more: Parameters<typeof aRun>[2], epoch = 1) => {
        const run = aRun(session, epoch, { dir: '/d', ...more })
        const answer = await store.claims.claim(aClaim(run, { ancestors, keeper: { pid: 7, ticks: 8 } }))
        return { run, answer: answer.kind === 'won' ? 'won' : answer.why }
      }
      const { run: owner } = await claim('s', [], {})
      const first = await claim('s.a', [owner.id], { parent: owner.id, task: 'adopt' })
      const second = await claim('s.b', [owner.id], { parent: owner.id, task: 'cancel' })
      const inner = await claim('s.b.c', [second.run.id, owner.id], { parent: second.run.id, task: 'cancel' })
      expect([first, second, inner].map(({ answer }) => answer)).toEqual(['won', 'won', 'won'])
      expect((await claim('stranger', [], {})).answer).toBe('directory')
      const strangersTo = async (ancestors: string[], session: string) => {
        const { locks, kin } = await store.locks.all(ancestors, session)
        return locks.flatMap(({ run }) => (run === null || kin.has(run) ? [] : [run]))
      }
      expect(await strangersTo([owner.id], 's')).toEqual([])
      expect(await strangersTo([owner.id], 'stranger')).toEqual([])
      expect(await strangersTo([], 's')).toEqual([owner.id])
      expect(await strangersTo([], 'stranger')).toContain(owner.id)
      await store.claims.recordEnded((await store.runs.get(owner.id)) as LiveRun, anEnding({ state: 'superseded' }), null, 5)
      // The tasks hold it against everybody else, until they end; for the next run of their session they do not.
      expect((await claim('stranger', [], {})).answer).toBe('directory')
      expect((await claim('s', [], {}, 2)).answer).toBe('won')
      const nested = aRun('n', 1, { dir: '/d2', parent: second.run.id })
      await store.claims.claim(aClaim(nested, { ancestors: [second.run.id] }))
      const beside = await store.claims.claim(
        aClaim(aRun('m', 1, { dir: '/d2', parent: second.run.id }), {
          ancestors: [second.run.id],
        }),
      )
      expect(beside).toEqual({ kind: 'won', epoch: 1 })
      // For the next run of a session that was taken over, only its tasks are family.
      const { locks, kin } = await store.locks.all([], 's')
      expect(locks.filter(({ run }) => run !== null && !kin.has(run)).map(({ session }) => session)).toEqual(['s', 'n', 'm'])
    }),
  )

  test(
    `${name}: what was started in a run, and all tasks, are found, ended ones too`,
    withStore(async (store) => {
      const owner = await live(store, 's')
      const task = await live(store, 's.a', 1, { parent: owner.id, task: 'cancel' })
      const nested = await live(store, 'n', 1, { parent: owner.id, independent: true })
      await store.claims.recordEnded(task, anEnding({ usage: { cpuMs: 12, whole: true } }), null, 5)
      expect((await store.runs.startedIn(owner.id, 9)).map(({ id }) => id)).toEqual([nested.id, task.id])
      expect(await store.runs.startedIn(owner.id, 1)).toHaveLength(1)
      expect(await store.runs.tasks('live', null, 9)).toEqual([])
      expect(await store.runs.tasks('all', 's', 9)).toMatchObject([{ id: task.id, state: 'completed', usage: { cpuMs: 12, whole: true } }])
    }),
  )

  test(
    `${name}: which runs are over and which was the last of its session; what may be forgotten, without forgetting it`,
    withStore(async (store) => {
      const first = await live(store, 's')
      await store.claims.recordEnded(first, anEnding(), null, 5)
      const second = await live(store, 's', 2)
      await store.claims.recordEnded(second, anEnding(), null, 9)
      const alive = await live(store, 't')
      expect((await store.runs.endedAmong([first.id, second.id, alive.id, 'nobody'])).toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
        { id: first.id, newest: false },
        { id: second.id, newest: true },
      ])
      expect(await store.runs.liveAmong([first.id, second.id, alive.id, 'nobody'])).toEqual(new Set([alive.id]))
      expect(await store.runs.endedAmong([])).toEqual([])
      expect(await store.retention.remains(9)).toEqual({ locks: [], ended: [second.id, first.id], live: new Set([alive.id]) })
      expect((await store.retention.remains(1)).ended).toEqual([second.id])
      const which = { endedBefore: 6, keep: 9, limit: 9 }
      expect(await store.retention.forgettable(which)).toEqual([first.id])
      expect(await store.retention.forget(which)).toEqual([first.id])
      expect(await store.retention.forgettable(which)).toEqual([])
    }),
  )

  test(
    `${name}: nothing is started in a run that is ending`,
    withStore(async (store) => {
      const parent = await live(store, 'p')
      await store.claims.recordAsked(parent, { end: 'stopped', by: 'x', reason: 'y' }, 2)
      expect(await store.claims.claim(aClaim(aRun('kid', 1, { parent: parent.id })))).toEqual({ kind: 'lost', why: 'parent' })
      expect((await store.claims.claim(aClaim(aRun('kid', 1, { parent: parent.id, independent: true })))).kind).toBe('won')
      expect(await store.runs.children(parent.id)).toEqual([])
    }),
  )

  verifies(
    'bounded',
    `${name}: ended runs are forgotten by age and by number, live ones never, and epochs go on`,
    withStore(async (store) => {
      for (let index = 1; index <= 6; index++)
        expect(await store.claims.recordEnded(await live(store, 's', index), anEnding(), null, index * 10)).toBe(true)
      await live(store, 's', 7)
      expect(await store.retention.forget({ endedBefore: 25, keep: 100, limit: 100 })).toHaveLength(2)
      expect(await store.retention.forget({ endedBefore: 0, keep: 1, limit: 2 })).toHaveLength(2)
      expect((await store.runs.ofSession('s', 100)).map(({ epoch }) => epoch)).toEqual([7, 6, 5])
      expect(await store.claims.claim(aClaim(aRun('s', 1, { dir: '/x' })))).toEqual({ kind: 'lost', why: 'live' })
    }),
  )
}
