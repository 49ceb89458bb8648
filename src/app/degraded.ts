import { endTree, lookAt } from '../act/index.ts'
import { verdict } from '../decide/index.ts'
import type { Running, Survivor } from '../model/index.ts'
import { Problem } from '../model/index.ts'
import type { Sight } from '../show/index.ts'
import type { World } from './world.ts'

/** What the run directories alone tell, when the store cannot be used: enough to see what runs, and to stop it. */
export function seeWithoutStore(world: World): Sight[] {
  return recordedRuns(world).flatMap((run): Sight[] => {
    const seen = lookAt(run, world)
    const judged = verdict(run, seen)
    if (judged.kind === 'over') return []
    return [
      {
        run,
        tasks: [],
        pid: seen.harnessId?.pid ?? null,
        note: 'from its run directory; the store cannot be used',
        session: { id: run.session, name: null, epoch: run.epoch, dir: run.dir, argv: run.argv, createdAt: run.startedAt },
        liveness: judged.kind === 'unknown' ? 'unknown' : judged.kind === 'settling' ? 'dead' : 'alive',
      },
    ]
  })
}

export type StoppedWithoutStore = {
  readonly session: string
  readonly pids: readonly number[]
  readonly survivors: readonly Survivor[]
  readonly unproven: string | null
}

export async function stopWithoutStore(world: World, references: readonly string[], all: boolean, graceMs: number): Promise<StoppedWithoutStore[]> {
  const sights = seeWithoutStore(world)
  const wanted = all
    ? sights
    : references.map((reference) => {
        const sight = sights.find(({ run }) => run.session === reference || run.id === reference)
        if (sight === undefined) throw new Problem('unavailable', `the store cannot be used, and no run directory shows a live session ${reference}`)
        return sight
      })
  return Promise.all(
    wanted.map(async ({ run, liveness, note }) => {
      world.files.retire(run.id)
      if (liveness === 'unknown') return { session: run.session, pids: [], survivors: [], unproven: note }
      const end = await endTree(run as Running, world, { graceMs })
      return { session: run.session, pids: end.ended.map(({ row }) => row.pid), survivors: end.survivors, unproven: end.blind }
    }),
  )
}

/** A run whose directory says how it ended is over, whatever else. */
function recordedRuns({ files }: World): Running[] {
  return files.list().flatMap((id) => {
    const record = files.read(id)
    return record === null || record.keeper === null ? [] : [{ ...record, state: 'running' as const }]
  })
}
