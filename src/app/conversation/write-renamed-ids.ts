import type { Store } from '../../model/index.ts'
import { recordChanged } from '../recover/compare.ts'
import type { World } from '../world/world.ts'

/** Sessions have other ids now: each of their runs says so on disk, too, so that no store made anew from there brings an old one back. */
export async function recordMoved(world: Pick<World, 'policy' | 'runRecords'>, store: Store, sessions: readonly string[]): Promise<void> {
  for (const session of sessions)
    for (const { id } of await store.runs.ofSession(session, world.policy.retentionRuns)) await recordWhere(world, store, id)
  if (sessions.length > 0) await recordChanged(store, world.runRecords)
}

/** Another one may move it at the same time: whoever writes last has looked after it wrote. */
async function recordWhere({ runRecords, policy }: Pick<World, 'policy' | 'runRecords'>, store: Store, run: string): Promise<void> {
  const sessionOf = async (): Promise<string | null> => (await store.runs.get(run))?.session ?? null
  let session = await sessionOf()
  for (let steps = 0; session !== null && steps < policy.claimSteps; steps++) {
    runRecords.recordRebound(run, session, await store.sessions.formerIds(session))
    const now = await sessionOf()
    if (now === session) return
    session = now
  }
}
