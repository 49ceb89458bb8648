import type { Harness, NativeId, Run, SessionRecord, Store } from '../../model/index.ts'
import { ID_GRAMMAR, isLive, isSessionId, Problem } from '../../model/index.ts'
import { learnAll } from '../conversation/learn.ts'
import { recordMoved } from '../conversation/write-renamed-ids.ts'
import { judgeLocks } from '../lock/judge-locks.ts'
import { carriedBy } from '../lock/refusal-message.ts'
import { forgottenLocks } from '../lock/trees-without-record.ts'
import { findSession } from '../see/find-session.ts'
import { seeOne } from '../see/look-at-sessions.ts'
import { placesOf } from '../usage/usage-baseline.ts'
import type { World } from '../world/world.ts'

/** `aside`: what a session that is over and had this id is called from now on. */
export type Rebound = { readonly session: string; readonly from: string; readonly changed: boolean; readonly aside: string | null }

/**
 * The true id of a session is another one: its row moves there with everything, and what it was called stays as an alias. An id that another
 * live session has is not taken: that would be two owners of one session.
 */
export async function rebind(world: World, reference: string, to: string, how: string): Promise<Rebound> {
  if (!isSessionId(to)) throw new Problem('session-id-invalid', `${JSON.stringify(to)} cannot name a session`, { hint: `use ${ID_GRAMMAR}` })
  const store = await world.store('writer')
  // An agent may have gone to that conversation since anybody looked.
  await learnAll(world, store)
  for (let steps = 0; steps < world.policy.claimSteps; steps++) {
    const { session, run } = await findSession(store, reference, 'near')
    await refuseUnproven(world, session.id, to)
    const harness = world.harnesses().find(({ name }) => name === session.harness)
    const native = harness === undefined ? null : await conversationOf(world, store, harness, run, to)
    const answer = await store.sessions.rebind({ session: session.id, epoch: session.epoch, to, native, how, at: world.clock.now() })
    if (answer.kind === 'taken') throw ownedBy(world, to, answer.by)
    if (answer.kind === 'lost') continue
    await recordMoved(world, store, answer.moved)
    if (native !== null && run !== null && isLive(run)) world.agentState.recordNative(run.id, native)
    return { session: to, from: session.id, changed: answer.changed, aside: answer.aside }
  }
  throw new Problem('session-contended', `session ${reference} could not be rebound: others are at it`, { hint: 'try again' })
}

/** Whoever has the id is looked at: what is over, and only not recorded so, is in nobody's way. */
async function refuseUnproven(world: World, session: string, to: string): Promise<void> {
  const store = await world.store('writer')
  const found = await store.sessions.find(to, 'exact')
  if (found.kind !== 'found' || found.view.session.id === session) return
  const { run, liveness, note } = await seeOne(world, found.view.session.id)
  if (liveness === 'unknown')
    throw new Problem(
      'owner-unproven',
      `${to} is the id of session ${run.session}, which cannot be proven gone: ${note ?? 'it is on record as live'}`,
      {
        hint: `holdfast status ${run.session}; if you know that it is gone: holdfast resolve ${run.session} --gone`,
      },
    )
  const left = isLive(run) ? [] : await forgottenLocks(store, run.session)
  const held = [...(await judgeLocks(world, left)).values()].find(({ kind }) => kind !== 'free')
  if (held !== undefined)
    throw new Problem('tree-alive', `${to} is the id of session ${run.session}, whose run is over on record, but its tree is not: ${held.why}`, {
      hint: `holdfast stop ${run.session} ends it`,
    })
}

const ownedBy = (world: World, to: string, { session, run }: SessionRecord): Problem =>
  run !== null && isLive(run)
    ? carriedBy(world, `two sessions with the id ${to} would be two owners of it; it`, run)
    : new Problem('session-id-taken', `the id ${to} was just taken by session ${session.id}`, { hint: 'try again' })

/** An id that is on record as a conversation's, or that the harness knows, is that of the conversation, too. */
async function conversationOf(
  world: Pick<World, 'env' | 'readDatabase' | 'usageFiles'>,
  store: Store,
  { name, sessions }: Harness,
  run: Run | null,
  id: string,
): Promise<NativeId | null> {
  const native = { harness: name, id }
  if ((await store.conversations.owner(native)) !== null) return native
  const places = run === null ? world.env : placesOf(world, run.id)
  return sessions !== null && sessions.find(places, id, world.readDatabase) !== null ? native : null
}
