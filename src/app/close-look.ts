import { type Verdict, verdict } from '../decide/index.ts'
import { judgeLocks } from './locks.ts'
import type { CloseLook, Presence } from './peers.ts'
import { lookSettled } from './see.ts'
import type { World } from './world.ts'

/** Looks at the trees of runs, and of locks whose runs are over on record. Nothing is recorded. */
export const closeLook = (world: World): CloseLook => ({
  lookAtRuns: async (runs) => {
    const looked = await lookSettled(world, runs)
    return new Map(
      runs.map((run) => {
        const seen = looked.get(run.id)
        return [run.id, seen === undefined ? 'unknown' : presenceFrom(verdict(run, seen))] as const
      }),
    )
  },
  lookAtLocks: async (locks) => {
    const judged = await judgeLocks(world, locks)
    return new Map(
      locks.map((lock): [string, Presence] => {
        const kind = judged.get(lock.seq)?.kind
        return [lock.run, kind === 'held' ? 'alive' : kind === 'free' ? 'over' : 'unknown']
      }),
    )
  },
})

function presenceFrom({ kind }: Verdict): Presence {
  if (kind === 'over' || kind === 'unknown') return kind
  return kind === 'settling' ? 'ending' : 'alive'
}
