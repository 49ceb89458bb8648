import type { NativeId, RunRecord, Session, Store } from '../../model/index.ts'
import { isLive, type LiveRun, policy } from '../../model/index.ts'
import type { World } from '../world/world.ts'

type Eyes = Pick<World, 'agentState' | 'clock' | 'runRecords'>

/** Sessions may have moved on since an older store was written: to another id, or to another conversation. Their run directories know. */
export async function catchUp(store: Store, { runRecords, agentState, clock }: Eyes): Promise<void> {
  const known = await store.runs.sessions()
  for (const id of known.size === 0 ? [] : runRecords.list()) {
    const record = known.has(id) ? runRecords.read(id) : null
    if (record !== null && record.session !== known.get(id)) await followId(store, record, clock.now())
  }
  for (const { session, run } of (await store.runs.live(policy.sessionsShown)).views)
    if (run !== null && isLive(run) && run.epoch === session.epoch)
      await followConversation(store, run, session, agentState.natives(run.id), clock.now())
}

/** Only where the directory says that the session was called so before, and the store does not know the new id: else the store is the newer one. */
async function followId(store: Store, record: RunRecord, at: number): Promise<void> {
  const session = (await store.runs.get(record.id))?.session ?? record.session
  if (session === record.session || record.former?.includes(session) !== true) return
  if ((await store.sessions.formerIds(session)).includes(record.session)) return
  const found = await store.sessions.find(session, 'exact')
  const epoch = found.kind === 'found' ? found.view.session.epoch : 0
  let from = session
  for (const to of [...record.former, record.session]) {
    // Nobody steps aside for an id that it had only in between.
    if (to !== record.session && (await store.sessions.find(to, 'exact')).kind !== 'none') continue
    const answer = await store.sessions.rebind({ session: from, epoch, to, native: null, how: 'run directory', at })
    if (answer.kind === 'bound') from = to
  }
}

/** Only where the directory has the store's conversation among earlier ones. */
async function followConversation(store: Store, run: LiveRun, { native }: Session, natives: readonly NativeId[], at: number): Promise<void> {
  const last = natives.at(-1)
  const isOlder = native === null || natives.slice(0, -1).some(({ id }) => id === native)
  if (last !== undefined && last.id !== native && isOlder) await store.conversations.bind(run, last, { how: 'run directory', before: native }, at)
}
