import { type Verdict, verdict } from '../../decide/index.ts'
import type { LiveRun } from '../../model/index.ts'
import { judgeLocks } from '../lock/judge-locks.ts'
import type { Forgotten } from '../lock/trees-without-record.ts'
import type { World } from '../world/world.ts'
import { lookSettled } from './look-at-sessions.ts'

/** `ending`: its end is still being written down. */
export type Presence = 'alive' | 'unknown' | 'ending' | 'over'

/** A look at whole trees. It is rarely needed, so a hook loads it only then. */
export type CloseLook = {
  readonly lookAtRuns: (runs: readonly LiveRun[]) => Promise<ReadonlyMap<string, Presence>>
  readonly lookAtLocks: (locks: readonly Forgotten[]) => Promise<ReadonlyMap<string, Presence>>
}
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
