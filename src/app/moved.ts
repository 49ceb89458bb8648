import type { Store } from '../model/index.ts'
import type { World } from './world.ts'

/** Sessions have other ids now: each of their runs says so on disk, too, so that no store made anew from there brings an old one back. */
export async function recordMoved({ files, policy }: World, store: Store, sessions: readonly string[]): Promise<void> {
  for (const session of sessions) for (const { id } of await store.runs(session, policy.retentionRuns)) files.recordRebound(id, session)
}
