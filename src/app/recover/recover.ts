import { type Looked, type LookPorts, lookAtAll } from '../../act/index.ts'
import { endedAt, verdict } from '../../decide/index.ts'
import type { Clock, Directories, LiveRun, RunRecord, RunRecords, RunRoot, Store } from '../../model/index.ts'

/**
 * An empty store beside run directories was lost: deleted, or moved away. Its runs may be alive, so they are put on record again, and
 * judged, before anything can be claimed. Costs one look at an empty folder when there is nothing to recover.
 */
export async function recoverStore(store: Store, eyes: Omit<LookPorts, 'liveRoots'> & { clock: Clock; directories: Directories }): Promise<void> {
  const { agentState, runRecords, clock } = eyes
  if (!(await store.isEmpty())) return
  const records = readAll(runRecords)
  if (records.length === 0) return
  const mounts = eyes.directories.mounts()
  await store.claims.restore(
    records.map((record) => ({
      record,
      directory: eyes.directories.look(record.dir, mounts),
      native: agentState.natives(record.id).at(-1) ?? null,
    })),
  )
  const runs = records.map(asLive)
  const looked = await lookAtAll(runs, { ...eyes, liveRoots: async () => rootsOf(records) })
  for (const run of runs) {
    const seen = looked.get(run.id) as Looked
    const judged = verdict(run, seen)
    if (judged.kind === 'over') await store.claims.recordEnded(run, judged.ending, seen.harnessId, endedAt(run, seen.exit, clock.now()))
  }
}

/** A run as far as its directory tells: on record as it was when it was started. */
export const asLive = (record: RunRecord): LiveRun => ({ ...record, state: record.keeper === null && !record.adopted ? 'starting' : 'running' })

export const readAll = (runRecords: RunRecords): RunRecord[] =>
  runRecords.list().flatMap((id) => {
    const record = runRecords.read(id)
    return record === null ? [] : [record]
  })

const rootsOf = (records: readonly RunRecord[]): RunRoot[] =>
  records.map(({ id, parent, marker, cookie, place, keeper, launcher, adopted, tmux }) => ({
    id,
    parent,
    marker,
    cookie,
    place,
    root: adopted ? launcher : keeper,
    hosted: tmux !== null,
  }))
export const rootsOnDisk = (runRecords: RunRecords): readonly RunRoot[] => rootsOf(readAll(runRecords))
