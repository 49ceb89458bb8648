import { carryOut, type PendingStep, type StepResult } from '../../app/index.ts'
import { policy } from '../../model/index.ts'
import type { Daemon } from '../daemon.ts'

/** Endings that take their time (a grace, a kill), apart from the rounds: nobody else waits for them. */
export type Endings = {
  /** False: there are too many already; it is looked at again. */
  begin(due: PendingStep): boolean
  has(run: string): boolean
  /** How many are under way. */
  size(): number
  /** What came of those that are done since the last call. */
  take(): Outcome[]
  /** Waits for those under way. Who has no time for that may leave: whoever comes next goes on with them. */
  close(): Promise<void>
}
export type Outcome = StepResult & { readonly due: PendingStep; readonly error: unknown }

/** `done` is called after each. Each has a world of its own, since one that lasts would keep an old store open for all others. */
export function openEndings({ open }: Pick<Daemon, 'open'>, done: (run: string) => void): Endings {
  const under = new Map<string, Promise<void>>()
  let outcomes: Outcome[] = []

  async function end(due: PendingStep): Promise<void> {
    try {
      const world = open()
      try {
        // (In one expression with what is waited for, it would be added to a list that was taken meanwhile.)
        const carried = await carryOut(world, await world.store('writer'), due)
        outcomes.push({ due, ...carried, error: null })
      } finally {
        world.close()
      }
    } catch (error) {
      outcomes.push({ due, change: null, stuck: null, error })
    }
    under.delete(due.run.id)
    done(due.run.id)
  }

  return {
    begin(due) {
      if (under.size >= policy.daemonEndings) return false
      // In a turn of its own: one that fails at once would be over before it is known to be under way, and then stay so for good.
      if (!under.has(due.run.id))
        under.set(
          due.run.id,
          Promise.resolve().then(() => end(due)),
        )
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
      await Promise.all(under.values())
    },
  }
}
