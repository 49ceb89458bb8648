import type { Clock } from '../../model/index.ts'
import { policy } from '../../model/index.ts'
import { realClock } from './clock.ts'
import type { World } from './world.ts'

/**
 * The world, as long as somebody uses it. A server lives long, and everything may change meanwhile: who we are, what is configured, where
 * the store lies. So each call looks anew, and calls at the same time look together; but who comes to one that was opened a while ago looks
 * anew as well, or calls that overlap without end would keep an old one for ever.
 */
export type Worlds = {
  use<T>(body: (world: World) => Promise<T>): Promise<T>
  /** How many use it right now. */
  users(): number
}

type Shared = { readonly world: World; readonly until: number; users: number }

export function worlds(open: () => World, clock: Pick<Clock, 'elapsed'> = realClock): Worlds {
  let shared: Shared | null = null
  let users = 0
  return {
    users: () => users,
    async use(body) {
      const now = clock.elapsed()
      const mine: Shared = shared !== null && now < shared.until ? shared : { world: open(), until: now + policy.worldMs, users: 0 }
      shared = mine
      mine.users++
      users++
      try {
        return await body(mine.world)
      } finally {
        mine.users--
        users--
        if (mine.users === 0) {
          if (shared === mine) shared = null
          mine.world.close()
        }
      }
    },
  }
}
