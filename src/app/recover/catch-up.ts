import type { LiveRun, NativeId, RunRecords, Session, Store } from '../../model/index.ts'
import { isLive, policy } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** Live runs may have moved on since an older store was written: to another id, or to another conversation. Their directories know. */
export async function catchUp(store: Store, { runRecords, agentState, clock }: Pick<World, 'agentState' | 'clock' | 'runRecords'>): Promise<void> {
  for (const { session, run } of (await store.runs.live(policy.sessionsShown)).views) {
    if (run === null || !isLive(run) || run.epoch !== session.epoch) continue
    await followId(store, run, runRecords, clock.now())
    await followConversation(store, run, session, agentState.natives(run.id), clock.now())
  }
}

/** Only where the directory says that the session was called so before, and the store does not know the new id: else the store is the newer one. */
async function followId(store: Store, { id, session, epoch }: LiveRun, runRecords: RunRecords, at: number): Promise<void> {
  const record = runRecords.read(id)
  if (record === null || record.session === session || record.former?.includes(session) !== true) return
  if ((await store.sessions.formerIds(session)).includes(record.session)) return
  await store.sessions.rebind({ session, epoch, to: record.session, native: null, how: 'run directory', at })
}

/** Only where the directory has the store's conversation among earlier ones. */
async function followConversation(store: Store, run: LiveRun, { native }: Session, natives: readonly NativeId[], at: number): Promise<void> {
  const last = natives.at(-1)
  const isOlder = native === null || natives.slice(0, -1).some(({ id }) => id === native)
  if (last !== undefined && last.id !== native && isOlder) await store.conversations.bind(run, last, { how: 'run directory', before: native }, at)
}
