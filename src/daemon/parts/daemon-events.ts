import type { Worlds } from '../../app/index.ts'
import type { Clock, HoldfastEvent, Store } from '../../model/index.ts'
import { policy } from '../../model/index.ts'
import { errorText } from '../frame/log.ts'
import type { Part } from '../frame/loop.ts'

type Detail = Readonly<Record<string, unknown>>

/** What happened to the daemon itself, on record. */
export type Memory = {
  /** What cannot be recorded now is said, and recorded as soon as it can be. */
  remember(detail: Detail): Promise<void>
  /** Fails as long as nothing can be recorded: whoever asks how the daemon does hears of it, even if nothing happens to anybody. */
  readonly part: Part
}

export function openMemory(shared: Pick<Worlds, 'use'>, log: (line: string) => void, clock: Clock, wake: () => void): Memory {
  let waiting: { readonly detail: Detail; readonly at: number }[] = []

  /** One after the other, in the order in which it happened. */
  const recordAll = (): Promise<void> =>
    shared.use(async (world) => {
      const store = await world.store('writer')
      if (waiting.length === 0) await store.tryWrite()
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        if (next.detail['what'] === 'started') await tellSilentEnd(store, next.at)
        await store.events.recordDaemon(next.detail, next.at)
        waiting = waiting.filter((one) => one !== next)
      }
    })
  /** Never two at a time: each would record the same. */
  let last: Promise<void> = Promise.resolve()
  const inTurn = (): Promise<void> => {
    const turn = last.then(recordAll)
    last = turn.catch(() => {})
    return turn
  }

  return {
    async remember(detail) {
      waiting = [...waiting, { detail, at: clock.now() }].slice(-policy.daemonLinesHeld)
      await inTurn().catch((error: unknown) => {
        log(`not recorded as an event (${String(detail['what'])}): ${errorText(error)}`)
        wake()
      })
    },
    part: {
      name: 'store',
      everyMs: policy.daemonPaceMs,
      async round() {
        await inTurn()
        return {}
      },
    },
  }
}

/** Only one daemon has the home: of the one before, which never said that it ended, this is known now. */
async function tellSilentEnd(store: Pick<Store, 'events'>, at: number): Promise<void> {
  const pid = silentPid(await store.events.list({ session: '', after: 0, limit: policy.daemonEventsKept }))
  if (pid !== null) await store.events.recordDaemon({ what: 'ended', pid, why: 'without a word' }, at)
}

function silentPid(events: readonly Pick<HoldfastEvent, 'detail'>[]): unknown {
  const life = events.findLast(({ detail }) => detail['what'] === 'started' || detail['what'] === 'ended')
  return life?.detail['what'] === 'started' ? (life.detail['pid'] ?? null) : null
}
