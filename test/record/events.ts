import { expect } from 'vitest'
import { policy } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { anEnding, aRun, end, inStore, type OpenStore, started } from './examples.ts'

/** What every store has to do about what happened: to sessions, and to the daemon. */
export function eventConformance(name: string, open: OpenStore): void {
  const withStore = inStore(open)

  verifies(
    'visible',
    `${name}: every change leaves an event with its reason, in order`,
    withStore(async (store) => {
      const run = await started(store, aRun('s'))
      await end(store, run, anEnding({ state: 'failed', reason: 'SIGKILL' }), null, 5)
      const events = await store.events.list({ session: 's', after: 0, limit: 100 })
      expect(events.map(({ kind }) => kind)).toEqual(['claimed', 'running', 'ended'])
      expect(events.at(-1)?.detail).toMatchObject({ state: 'failed', reason: 'SIGKILL' })
      expect(await store.events.list({ session: 's', after: events[1]?.seq ?? 0, limit: 100 })).toHaveLength(1)
      expect(await store.events.list({ session: null, after: 0, limit: 2 })).toEqual(events.slice(1))
    }),
  )

  verifies(
    'visible',
    `${name}: what the daemon does is an event of no session, of which the newest are kept, and touches no session's`,
    withStore(async (store) => {
      await started(store, aRun('s'))
      await store.events.recordDaemon({ what: 'started', pid: 7 }, 10)
      await store.tryWrite()
      expect((await store.events.list({ session: null, after: 0, limit: 9 })).at(-1)).toMatchObject({
        at: 10,
        kind: 'daemon',
        session: '',
        run: '',
        epoch: 0,
        detail: { what: 'started', pid: 7 },
      })
      for (let count = 0; count < policy.daemonEventsKept + 5; count++) await store.events.recordDaemon({ what: 'ended', count }, 11)
      const all = await store.events.list({ session: null, after: 0, limit: 9_999 })
      const own = all.filter(({ kind }) => kind === 'daemon')
      expect(own).toHaveLength(policy.daemonEventsKept)
      expect(own[0]?.detail).toEqual({ what: 'ended', count: 5 })
      expect((await store.events.list({ session: 's', after: 0, limit: 9 })).map(({ kind }) => kind)).toEqual(['claimed', 'running'])
      expect(await store.retention.forget({ endedBefore: 99, keep: 0, limit: 9 })).toEqual([])
    }),
  )
}
