import { expect, test } from 'vitest'
import type { ActivityChange, LiveRun, Refusal, Store } from '../../src/model/index.ts'
import { policy } from '../../src/model/index.ts'
import { aClaim, anEnding, aRun, inStore, type OpenStore } from './examples.ts'

/** What every store has to do about what agents are at, and about those who were refused because of them. */
export function activityConformance(name: string, open: OpenStore): void {
  const withStore = inStore(open)
  const live = async (store: Store, session = 's', epoch = 1): Promise<LiveRun> => {
    const run = aRun(session, epoch)
    expect((await store.claims.claim(aClaim(run, { keeper: { pid: 7, ticks: 8 } }))).kind).toBe('won')
    return (await store.runs.get(run.id)) as LiveRun
  }
  const change = (state: ActivityChange['state'], since: number, more: Partial<ActivityChange> = {}): ActivityChange => ({
    state,
    since,
    how: 'hook',
    gapMs: 0,
    ...more,
  })
  const details = async (store: Store, kind: string, session = 's') =>
    (await store.events.list({ session, after: 0, limit: 99 })).filter((event) => event.kind === kind).map(({ detail }) => detail)

  test(
    `${name}: what an agent is at is recorded when it changes, with what was before and how long, and each change once`,
    withStore(async (store, again) => {
      const run = await live(store)
      const other = await again()
      const now = Date.now()
      const t = (ms: number): number => now - 100_000 + ms
      expect(await store.events.recordActivity(run, change('busy', t(10)), now)).toBe(true)
      // Whoever comes second, or with what is older, changes nothing; nor is it news that it is as it was.
      for (const one of [store, other]) {
        expect(await one.events.recordActivity(run, change('busy', t(10)), now)).toBe(false)
        expect(await one.events.recordActivity(run, change('idle', t(5)), now)).toBe(false)
        expect(await one.events.recordActivity(run, change('busy', t(99)), now)).toBe(false)
      }
      expect(await other.events.recordActivity(run, change('waiting', t(20), { how: 'registry' }), now)).toBe(true)
      expect(await details(store, 'activity')).toEqual([
        { state: 'busy', how: 'hook', since: t(10) },
        { state: 'waiting', how: 'registry', since: t(20), before: 'busy', lasted: 10 },
      ])
    }),
  )

  test(
    `${name}: of two who saw the same change at the same time one records it`,
    withStore(async (store, again) => {
      const run = await live(store)
      const stores = [store, await again(), await again()]
      const won = await Promise.all(stores.map((one) => one.events.recordActivity(run, change('idle', 10), 20)))
      expect(won.filter(Boolean)).toHaveLength(1)
      expect(await details(store, 'activity')).toHaveLength(1)
    }),
  )

  test(
    `${name}: of what an agent was at, the newest are kept`,
    withStore(async (store) => {
      const [run, other] = [await live(store), await live(store, 'o')]
      await store.events.recordActivity(other, change('idle', 1), 1)
      const seen = policy.activityEventsKept + 5
      for (let times = 1; times <= seen; times++)
        expect(await store.events.recordActivity(run, change(times % 2 === 0 ? 'busy' : 'idle', times * 10), times * 10)).toBe(true)
      const kept = (await store.events.list({ session: 's', after: 0, limit: seen * 2 })).filter(({ kind }) => kind === 'activity')
      expect(kept.map(({ detail }) => detail['since'])).toEqual(Array.from({ length: policy.activityEventsKept }, (_, index) => (index + 6) * 10))
      expect(await details(store, 'activity', 'o')).toHaveLength(1)
    }),
  )

  test(
    `${name}: what is only guessed is told rarely, and a clock that was set back does not end the record`,
    withStore(async (store) => {
      const run = await live(store)
      const now = run.startedAt + 1_000_000
      const guessed = { how: 'output', gapMs: 60_000 } as const
      expect(await store.events.recordActivity(run, change('busy', now, guessed), now)).toBe(true)
      expect(await store.events.recordActivity(run, change('idle', now + 10, guessed), now + 59_999)).toBe(false)
      expect(await store.events.recordActivity(run, change('idle', now + 10, guessed), now + 60_000)).toBe(true)
      expect(await store.events.recordActivity(run, change('busy', now - 900_000), now - 900_000)).toBe(true)
    }),
  )

  test(
    `${name}: a guess may be of what was before the last one was recorded: one that painted for a second and sits is idle`,
    withStore(async (store) => {
      const run = await live(store)
      const now = run.startedAt + 1_000_000
      const guessed = { how: 'output', gapMs: 60_000 } as const
      expect(await store.events.recordActivity(run, change('busy', now, guessed), now)).toBe(true)
      expect(await store.events.recordActivity(run, change('idle', now - 500, guessed), now + 59_999)).toBe(false)
      expect(await store.events.recordActivity(run, change('idle', now - 500, guessed), now + 60_000)).toBe(true)
      expect((await details(store, 'activity')).at(-1)).toEqual({ state: 'idle', how: 'output', since: now - 500, before: 'busy', lasted: 0 })
      expect(await store.events.recordActivity(run, change('idle', now - 500, guessed), now + 180_000)).toBe(false)
    }),
  )

  test(
    `${name}: what was only guessed says nothing of a turn that is told`,
    withStore(async (store) => {
      const run = await live(store)
      const now = run.startedAt + 1_000_000
      expect(await store.events.recordActivity(run, change('busy', now, { how: 'output' }), now)).toBe(true)
      expect(await store.events.recordActivity(run, change('idle', now + 24_000), now + 24_000)).toBe(true)
      expect((await details(store, 'activity')).at(-1)).toEqual({ state: 'idle', how: 'hook', since: now + 24_000 })
    }),
  )

  test(
    `${name}: a run that is over, or is none of its session's any more, is at nothing`,
    withStore(async (store) => {
      const run = await live(store)
      expect(await store.events.recordActivity({ ...run, epoch: 9 }, change('busy', 10), 20)).toBe(false)
      await store.claims.recordEnded(run, anEnding(), null, 30)
      expect(await store.events.recordActivity(run, change('idle', 40), 50)).toBe(false)
      expect(await store.events.recordRefused(run, refusal(), 50)).toBe(false)
      expect(await details(store, 'activity')).toEqual([])
    }),
  )

  test(
    `${name}: a spender that nobody watches is on record once for each such time, also of a run that is over`,
    withStore(async (store) => {
      const run = await live(store)
      const now = run.startedAt + 1_000_000
      const spending = { why: 'idle', since: now - 60_000, harness: 'codex', pid: 7, task: 's.codex-7-1', tokens: 500 } as const
      const seen: boolean[] = []
      for (const one of [
        spending,
        { ...spending, tokens: 900 },
        { ...spending, task: null },
        { ...spending, task: null },
        { ...spending, why: 'agent-gone' } as const,
        { ...spending, since: now - 1 },
      ])
        seen.push(await store.events.recordUnwatched(run, one, now))
      expect(seen).toEqual([true, false, true, false, true, true])
      await store.claims.recordEnded(run, anEnding(), null, now)
      expect(await store.events.recordUnwatched(run, { ...spending, why: 'over' }, now)).toBe(true)
      expect((await details(store, 'unwatched'))[0]).toEqual(spending)
    }),
  )

  const refusal = (more: Partial<Refusal> = {}, asker: Partial<Refusal['asker']> = {}): Refusal => ({
    asker: { pid: 7, command: 'claude', user: 'ann@host', ...asker },
    wanted: 'session',
    dir: '/w',
    gapMs: 60_000,
    ...more,
  })

  test(
    `${name}: who was refused is on the holder's record, once in a while for each thing that was wanted, under however many names`,
    withStore(async (store) => {
      const run = await live(store)
      const now = run.startedAt + 1_000_000
      expect(await store.events.recordRefused(run, refusal(), now)).toBe(true)
      expect(await store.events.recordRefused(run, refusal({}, { pid: 8 }), now + 59_999)).toBe(false)
      for (const other of [refusal({}, { user: 'bob@host' }), refusal({}, { command: 'codex' })])
        expect(await store.events.recordRefused(run, other, now + 1)).toBe(false)
      expect(await store.events.recordRefused(run, refusal({ wanted: 'directory' }), now + 1)).toBe(true)
      expect(await store.events.recordRefused(run, refusal({}, { pid: 9 }), now + 60_000)).toBe(true)
      expect(await details(store, 'refused')).toHaveLength(3)
      expect((await details(store, 'refused'))[0]).toEqual({ wanted: 'session', dir: '/w', pid: 7, command: 'claude', user: 'ann@host' })
    }),
  )
}
