import { expect } from 'vitest'
import type { LiveRun, Store } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { aClaim, anEnding, aRun, inStore, type OpenStore } from './examples.ts'

/** What every store has to do when a person forgets or renames a session. */
export function sessionNamesConformance(name: string, open: OpenStore): void {
  const withStore = inStore(open)
  const live = async (store: Store, session: string, more: Parameters<typeof aClaim>[1] = {}, epoch = 1): Promise<LiveRun> => {
    const run = aRun(session, epoch, { dir: `/${session}-${epoch}` })
    expect(await store.claims.claim(aClaim(run, { keeper: { pid: 7, ticks: 8 }, ...more }))).toEqual({ kind: 'won', epoch })
    return (await store.runs.get(run.id)) as LiveRun
  }
  const over = async (store: Store, ...args: Parameters<typeof live> extends [Store, ...infer Rest] ? Rest : never): Promise<LiveRun> => {
    const run = await live(store, ...args)
    expect(await store.claims.recordEnded(run, anEnding(), null, 9)).toBe(true)
    return run
  }
  const idOf = async (store: Store, reference: string): Promise<string | null> => {
    const found = await store.sessions.find(reference, 'exact')
    return found.kind === 'found' ? found.view.session.id : null
  }
  const rename = (store: Store, session: string, to: string, freeOld: boolean, epoch = 1) =>
    store.sessions.rename({ session, epoch, to, freeOld, how: 'ann', at: 5 })

  verifies(
    'named',
    `${name}: a session that is forgotten leaves nothing, and its names are free; another one is untouched`,
    withStore(async (store) => {
      const run = await over(store, 'api', { name: 'mine', harness: 'claude', native: 'aaaa-1' })
      const other = await over(store, 'other')
      expect(await store.sessions.forget({ session: 'api', epoch: 1, runs: [run.id] })).toEqual({ kind: 'forgotten' })
      for (const reference of ['api', 'mine', 'aaaa-1']) expect(await idOf(store, reference)).toBeNull()
      expect(await store.runs.get(run.id)).toBeNull()
      expect((await store.events.list({ session: null, after: 0, limit: 99 })).every(({ session }) => session === 'other')).toBe(true)
      expect(await store.runs.get(other.id)).not.toBeNull()
      await live(store, 'api', { name: 'mine', harness: 'claude', native: 'aaaa-1' })
      expect(await idOf(store, 'mine')).toBe('api')
    }),
  )

  verifies(
    'named',
    `${name}: a session that is live, has gone on, or has runs that nobody looked at is not forgotten`,
    withStore(async (store) => {
      const run = await live(store, 'api')
      const ask = (epoch: number, runs: readonly string[]) => store.sessions.forget({ session: 'api', epoch, runs })
      expect(await ask(1, [run.id])).toEqual({ kind: 'lost' })
      await store.claims.recordEnded(run, anEnding(), null, 9)
      const next = await over(store, 'api', {}, 2)
      expect(await ask(1, [run.id, next.id])).toEqual({ kind: 'lost' })
      expect(await ask(2, [next.id])).toEqual({ kind: 'lost' })
      expect(await store.runs.get(run.id)).not.toBeNull()
      expect(await ask(2, [run.id, next.id])).toEqual({ kind: 'forgotten' })
    }),
  )

  verifies(
    'named',
    `${name}: a session that is renamed is found by its new name, and by the old one only where that stays`,
    withStore(async (store) => {
      await over(store, 'api', { name: 'mine', harness: 'claude', native: 'aaaa-1' })
      expect(await rename(store, 'api', 'web', true)).toEqual({ kind: 'renamed', moved: ['web'] })
      expect(await Promise.all(['api', 'mine', 'web', 'aaaa-1'].map((one) => idOf(store, one)))).toEqual([null, null, 'web', 'web'])
      await live(store, 'api')
      expect(await rename(store, 'api', 'web', false)).toMatchObject({ kind: 'taken', by: { session: { id: 'web' } } })
      expect(await rename(store, 'api', 'new', false)).toMatchObject({ kind: 'renamed' })
      expect(await Promise.all(['api', 'new', 'web'].map((one) => idOf(store, one)))).toEqual(['new', 'new', 'web'])
      expect(await rename(store, 'web', 'api', true)).toMatchObject({ kind: 'taken', by: { session: { id: 'new' } } })
      expect(await rename(store, 'web', 'other', true, 7)).toEqual({ kind: 'lost' })
    }),
  )
}
