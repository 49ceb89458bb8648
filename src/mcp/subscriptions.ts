import type { Worlds } from '../app/index.ts'
import { happenedSince } from '../app/index.ts'
import { Problem, policy } from '../model/index.ts'
import type { Tell } from './answer.ts'
import { EVENTS, isOfEvents, sessionIn } from './event-uri.ts'

/** Who wants to be told when something happened. `key`: the subscription, which may be about several addresses. */
export type Subscriptions = {
  /** From its answer on nothing is missed. */
  add(key: string, uris: readonly string[]): Promise<void>
  remove(key: string): void
  readonly size: number
}

/** The store is looked at only while somebody is subscribed. */
export function watchEvents(worlds: Worlds, tell: Tell, publish: (uri: string) => void): Subscriptions {
  const wanted = new Map<string, readonly string[]>()
  let seen: number | null = null
  let timer: NodeJS.Timeout | null = null
  let trouble: string | null = null

  async function look(): Promise<void> {
    const uris = [...new Set([...wanted.values()].flat())]
    try {
      const { seq, any, of } = await worlds.use((world) =>
        happenedSince(
          world,
          seen,
          uris.flatMap((uri) => sessionIn(uri) ?? []),
        ),
      )
      // Whether something happened while nobody could look is not known: whoever is told may look for itself.
      const blind = trouble !== null
      for (const uri of uris) if (blind || (uri === EVENTS ? any : of.includes(sessionIn(uri) ?? ''))) publish(uri)
      seen = seq
      trouble = null
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      if (trouble === null)
        tell(error instanceof Problem ? `what happens cannot be told: ${why}` : `a bug: ${error instanceof Error ? error.stack : why}`)
      trouble = why
    }
  }

  function again(): void {
    timer = setTimeout(() => {
      if (wanted.size === 0) {
        timer = null
        return
      }
      look().finally(() => {
        if (wanted.size > 0) again()
        else timer = null
      })
    }, policy.mcpWatchMs)
    // It keeps nothing alive.
    timer.unref()
  }

  return {
    async add(key, uris) {
      const own = uris.filter(isOfEvents).slice(0, policy.mcpSubscriptions)
      if (own.length === 0) return
      wanted.set(key, own)
      if (timer !== null) return
      seen = null
      again()
      await look()
    },
    remove: (key) => void wanted.delete(key),
    get size() {
      return wanted.size
    },
  }
}
