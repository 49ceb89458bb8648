import type { World } from './world.ts'

/**
 * The world, as long as somebody uses it. A server lives long, and everything may change meanwhile: who we are, what is configured, where
 * the store lies. So each call looks anew, and calls at the same time look together.
 */
export type Worlds = {
  use<T>(body: (world: World) => Promise<T>): Promise<T>
  /** How many use it right now. */
  users(): number
}

export function worlds(open: () => World): Worlds {
  let shared: { readonly world: World; users: number } | null = null
  return {
    users: () => shared?.users ?? 0,
    async use(body) {
      const mine = shared ?? { world: open(), users: 0 }
      shared = mine
      mine.users++
      try {
        return await body(mine.world)
      } finally {
        mine.users--
        if (mine.users === 0) {
          shared = null
          mine.world.close()
        }
      }
    },
  }
}
