import { expect, test } from 'vitest'
import type { Ended, LiveRun, Store } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { aClaim, anEnding, aRun, inStore, type OpenStore } from './examples.ts'

/** What every store has to do about the conversations that harnesses know by ids of their own. */
export function nativeConformance(name: string, open: OpenStore): void {
  const withStore = inStore(open)
  const live = async (store: Store, session: string, native: string | null, epoch = 1): Promise<LiveRun> => {
    const run = aRun(session, epoch, { dir: `/${session}-${epoch}` })
    expect(await store.claims.claim(aClaim(run, { keeper: { pid: 7, ticks: 8 }, harness: 'claude', native }))).toEqual({ kind: 'won', epoch })
    return (await store.runs.get(run.id)) as LiveRun
  }
  const sessionOf = async (store: Store, reference: string) => {
    const found = await store.sessions.find(reference, 'exact')
    return found.kind === 'found' ? found.view.session : null
  }
  const id = (native: string, harness = 'claude') => ({ harness, id: native })

  test(
    `${name}: a session is found by every native id it ever had, and by the beginning of one`,
    withStore(async (store) => {
      const run = await live(store, 's', 'aaaa-1')
      expect(await store.conversations.bind(run, id('bbbb-2'), { how: 'hook' }, 5)).toEqual({ kind: 'bound', changed: true })
      expect(await store.conversations.bind(run, id('bbbb-2'), { how: 'hook' }, 6)).toEqual({ kind: 'bound', changed: false })
      expect(await sessionOf(store, 'aaaa-1')).toMatchObject({ id: 's', harness: 'claude', native: 'bbbb-2' })
      expect(await sessionOf(store, 'bbbb-2')).toMatchObject({ id: 's' })
      expect(await store.sessions.find('bbb', 'prefix')).toMatchObject({ kind: 'found', view: { session: { id: 's' } } })
      expect((await store.conversations.owner(id('bbbb-2')))?.session.id).toBe('s')
      expect(await store.conversations.owner(id('aaaa-1'))).toBeNull()
      expect(await store.conversations.owner(id('bbbb-2', 'codex'))).toBeNull()
      const events = await store.events.list({ session: 's', after: 0, limit: 9 })
      expect(events.filter(({ kind }) => kind === 'bound').map(({ detail }) => detail)).toEqual([
        { harness: 'claude', id: 'bbbb-2', before: 'aaaa-1', how: 'hook' },
      ])
    }),
  )

  verifies(
    'one-owner',
    `${name}: a conversation that a live session carries is taken by no other: not at its claim, and not later`,
    withStore(async (store) => {
      const owner = await live(store, 's', 'aaaa-1')
      const other = aRun('t', 1, { dir: '/t' })
      expect(await store.claims.claim(aClaim(other, { harness: 'claude', native: 'aaaa-1' }))).toEqual({ kind: 'lost', why: 'native' })
      expect(await sessionOf(store, 't')).toBeNull()
      // Another harness may use the same word.
      expect((await store.claims.claim(aClaim(aRun('c', 1, { dir: '/c' }), { harness: 'codex', native: 'aaaa-1' }))).kind).toBe('won')
      const newcomer = await live(store, 't', 'cccc-3')
      for (const at of [5, 6])
        expect(await store.conversations.bind(newcomer, id('aaaa-1'), { how: 'hook' }, at)).toMatchObject({
          kind: 'taken',
          by: { id: owner.id, session: 's' },
        })
      expect(await sessionOf(store, 't')).toMatchObject({ native: 'cccc-3' })
      // Both know, and each once.
      for (const [session, other] of [
        ['s', 't'],
        ['t', 's'],
      ] as const) {
        const events = (await store.events.list({ session, after: 0, limit: 99 })).filter(({ kind }) => kind === 'conflict')
        expect(events.map(({ detail }) => detail['with'])).toEqual([other])
      }
    }),
  )

  verifies(
    'self',
    `${name}: a conversation whose session is over goes to whoever goes on with it, and leaves no second owner behind`,
    withStore(async (store) => {
      const old = await live(store, 's', 'aaaa-1')
      await store.claims.recordEnded(old, anEnding(), null, 5)
      const run = await live(store, 't', null)
      expect(await sessionOf(store, 't')).toMatchObject({ harness: 'claude', native: null })
      expect(await store.conversations.bind(run, id('aaaa-1'), { how: 'seen' }, 6)).toEqual({ kind: 'bound', changed: true })
      expect(await sessionOf(store, 's')).toMatchObject({ native: null, wentTo: 't' })
      expect((await sessionOf(store, 'aaaa-1'))?.id).toBe('t')
      // And back again.
      await store.claims.recordEnded(run, anEnding(), null, 7)
      await live(store, 's', 'aaaa-1', 2)
      expect(await sessionOf(store, 's')).toMatchObject({ native: 'aaaa-1', wentTo: null })
      expect(await sessionOf(store, 't')).toMatchObject({ native: null, wentTo: 's' })
    }),
  )

  verifies(
    'epoch',
    `${name}: only the live owner of the present epoch binds anything, or is heard`,
    withStore(async (store) => {
      const first = await live(store, 's', 'aaaa-1')
      await store.claims.recordEnded(first, anEnding(), null, 5)
      expect(await store.conversations.bind(first, id('bbbb-2'), { how: 'hook' }, 6)).toEqual({ kind: 'lost' })
      expect(await store.events.recordTold(first, { event: 'session-end' }, 6)).toBe(false)
      const second = await live(store, 's', 'aaaa-1', 2)
      expect(await store.conversations.bind(first, id('bbbb-2'), { how: 'hook' }, 7)).toEqual({ kind: 'lost' })
      expect(await store.conversations.bind({ ...second, epoch: 1 }, id('bbbb-2'), { how: 'hook' }, 7)).toEqual({ kind: 'lost' })
      expect(await store.events.recordTold(second, { event: 'session-end' }, 8)).toBe(true)
      expect(await sessionOf(store, 's')).toMatchObject({ native: 'aaaa-1' })
      // One who looked before it moved on changes nothing.
      await store.conversations.bind(second, id('cccc-3'), { how: 'hook' }, 9)
      expect(await store.conversations.bind(second, id('aaaa-1'), { how: 'seen', before: 'aaaa-1' }, 9)).toEqual({ kind: 'lost' })
      expect(await store.conversations.bind(second, id('dddd-4'), { how: 'seen', before: 'cccc-3' }, 9)).toEqual({ kind: 'bound', changed: true })
    }),
  )

  test(
    `${name}: a name that somebody chose is not taken over by a native id that looks the same`,
    withStore(async (store) => {
      const named = aRun('s', 1, { dir: '/s' })
      await store.claims.claim(aClaim(named, { name: 'aaaa-1', keeper: { pid: 7, ticks: 8 } }))
      const run = await live(store, 't', null)
      expect(await store.conversations.bind(run, id('aaaa-1'), { how: 'seen' }, 6)).toEqual({ kind: 'bound', changed: true })
      expect((await sessionOf(store, 'aaaa-1'))?.id).toBe('s')
      expect((await store.conversations.owner(id('aaaa-1')))?.session.id).toBe('t')
    }),
  )

  test(
    `${name}: an agent that was found inside a run comes on record as a task that is over, once, and holds nothing`,
    withStore(async (store) => {
      const owner = await live(store, 's', 'aaaa-1')
      await store.claims.recordEnded(owner, anEnding({ state: 'stopped' }), null, 5)
      const tokens = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, cost: null }
      const found: Ended = {
        ...aRun('s.codex-9', 1, { parent: owner.id, task: 'cancel', adopted: true, dir: owner.dir }),
        ...anEnding({ state: 'superseded', exit: null, usage: { cpuMs: 0, whole: false, tokens } }),
        state: 'superseded',
        keeper: null,
        harness: { pid: 9, ticks: 9 },
        endedAt: 1_700_000_009_000,
      }
      expect(await store.claims.recordNested(found, 'codex', 'dddd-4')).toBe(true)
      expect(await store.claims.recordNested({ ...found, id: 'r000000000009' }, 'codex', null)).toBe(false)
      // What any session has stays that one's, also when it is over.
      expect(await store.claims.recordNested({ ...found, id: 'r00000000000a', session: 's.codex-10' }, 'claude', 'aaaa-1')).toBe(true)
      expect(await sessionOf(store, 's')).toMatchObject({ native: 'aaaa-1', wentTo: null })
      expect(await store.runs.tasks('all', 's', 9)).toContainEqual(
        expect.objectContaining({ session: 's.codex-9', state: 'superseded', parent: owner.id }),
      )
      expect((await store.runs.spent(['s.codex-9'])).get('s.codex-9')).toEqual(tokens)
      expect(await sessionOf(store, 'dddd-4')).toMatchObject({ id: 's.codex-9', harness: 'codex' })
      expect((await store.locks.all([], null)).locks).toEqual([])
      expect((await store.sessions.snapshot('live', 9)).views).toEqual([])
    }),
  )
}
