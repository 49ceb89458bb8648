import { type Change, carryOut, type Due, openWorld } from '../app/index.ts'
import { policy } from '../model/index.ts'
import type { Daemon } from './index.ts'

/** Endings that take their time (a grace, a kill), apart from the rounds: nobody else waits for them. */
export type Endings = {
  /** False: there are too many already; it is looked at again. */
  begin(due: Due): boolean
  has(run: string): boolean
  /** How many are under way. */
  size(): number
  /** What came of those that are done since the last call. */
  take(): Outcome[]
  /** Waits for those under way, but not for long: whoever comes next goes on with them. */
  close(): Promise<void>
}
export type Outcome = { readonly run: string; readonly session: string; readonly change: Change | null; readonly error: unknown }

/** `done` is called after each. Each has a world of its own, since one that lasts would keep an old store open for all others. */
export function openEndings({ assets, home }: Daemon, done: (run: string) => void): Endings {
  const under = new Map<string, Promise<void>>()
  let outcomes: Outcome[] = []

  async function end(due: Due): Promise<void> {
    const about = { run: due.run.id, session: due.run.session }
    try {
      const world = openWorld({ assets, home })
      try {
        outcomes.push({ ...about, change: await carryOut(world, await world.store('writer'), due), error: null })
      } finally {
        world.close()
      }
    } catch (error) {
      outcomes.push({ ...about, change: null, error })
    }
    under.delete(due.run.id)
    done(due.run.id)
  }

  return {
    begin(due) {
      if (under.size >= policy.daemonEndings) return false
      if (!under.has(due.run.id)) under.set(due.run.id, end(due))
      return true
    },
    has: (run) => under.has(run),
    size: () => under.size,
    take() {
      const taken = outcomes
      outcomes = []
      return taken
    },
    async close() {
      let timer: NodeJS.Timeout | undefined
      const patience = new Promise<void>((over) => {
        timer = setTimeout(over, policy.killMs)
      })
      await Promise.race([Promise.all(under.values()), patience])
      clearTimeout(timer)
    },
  }
}
