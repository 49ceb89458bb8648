import { announced, newsFor, toldFrom } from '../../decide/index.ts'
import type { Around, Message, Notice, Peer, Run, Store, Told } from '../../model/index.ts'
import { isLive, MESSAGES } from '../../model/index.ts'
import { messagesText, newsText, senderText } from '../../show/index.ts'
import { recordInPassing } from '../world/best-effort-write.ts'
import type { World } from '../world/world.ts'
import { type PeerWorld, peersNear } from './peers.ts'

/** How often it is looked again what an agent was told, when others tell it something at the same time. */
const MAX_TRIES = 10

type NewsWorld = PeerWorld & Pick<World, 'clock' | 'fences' | 'agentInbox'>

/** What changed around a run's agent since it was last told, in one line; null: nothing. It counts as told from now on. */
export async function tellNews(world: NewsWorld, store: Store, run: Run): Promise<string | null> {
  const { agentInbox } = world
  const notices: Notice[] = []
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const { version, text } = agentInbox.told(run.id)
    const before = toldFrom(text)
    const around = await lookAround(world, store, run, before?.here ?? [])
    notices.push(...agentInbox.take(run.id))
    const { news, told } = newsFor(before, around, notices)
    const next = JSON.stringify(told)
    if (next === text && news === null) return null
    // Two prompts at once see the same change: one of them tells it.
    if (agentInbox.recordTold(run.id, version, next)) return news === null ? null : newsText(news)
  }
  for (const notice of notices) agentInbox.leave(run.id, notice)
  return null
}

/** One that was told to end has nothing else to think of. */
async function lookAround(world: NewsWorld, store: Store, run: Run, known: readonly string[]): Promise<Around> {
  const { fences, policy, clock } = world
  if (fences.isRetired(run.id)) return { peers: [], gone: [], unread: [], retired: { session: run.session, intent: fences.intent(run.id) } }
  const { peers, over } = await peersOf(world, store, run)
  const missed = known.filter((id) => !peers.some((peer) => peer.run === id))
  const unread = await store.messages.inbox(run.session, 'peek', { count: policy.inboxSize, bytes: Number.POSITIVE_INFINITY }, clock.now())
  return {
    peers,
    gone: await overAmong(store, missed, over),
    unread: unread.map(({ seq, at, from, sentTo }) => ({ seq, at, from: senderText(from), earlier: sentTo !== undefined })),
    retired: null,
  }
}

/** Those who work here too, without the runs that it has started itself: of them it knows. */
async function peersOf(world: NewsWorld, store: Store, run: Run): Promise<{ readonly peers: Peer[]; readonly over: readonly Run[] }> {
  const { peers: near, over } = await peersNear(world, store, run)
  const own = new Set([run.id])
  for (const { run: one } of near.toSorted((a, b) => a.run.startedAt - b.run.startedAt))
    if (one.parent !== null && own.has(one.parent)) own.add(one.id)
  const others = near.filter(({ run: one }) => !own.has(one.id))
  if (others.length === 0) return { peers: [], over }
  const said = await store.messages.said(others.map(({ run: one }) => one.id))
  const peers = others.map(({ session, run: one }) => ({
    run: one.id,
    session: session.id,
    harness: session.harness,
    plan: said.get(one.id)?.plan?.text ?? null,
  }))
  return { peers, over }
}

/** Of those that are not seen, the ones on record as over or proven to be: what cannot be told has not left. */
async function overAmong(store: Store, runs: readonly string[], proven: readonly Run[]): Promise<Peer[]> {
  const over: Peer[] = []
  for (const id of runs) {
    const run = await store.runs.get(id)
    if (run === null || !isLive(run) || proven.some((one) => one.id === id))
      over.push({ run: id, session: run?.session ?? id, harness: null, plan: null })
  }
  return over
}

/** Whom a message has reached is told so with its next tool call, unless it was with a prompt in between. */
export async function announce(
  world: Pick<World, 'agentInbox' | 'clock' | 'policy'>,
  store: Store,
  readers: readonly string[],
  message: Pick<Message, 'seq' | 'from'>,
): Promise<void> {
  // The message is on its way, whatever becomes of this.
  const inPassing = recordInPassing()
  for (const session of readers)
    await inPassing(async () => {
      const found = await store.sessions.find(session, 'exact')
      const run = found.kind === 'found' ? found.view.run : null
      const unread = await store.messages.inbox(
        session,
        'peek',
        { count: world.policy.inboxSize, bytes: Number.POSITIVE_INFINITY },
        world.clock.now(),
      )
      const waiting = unread.find(({ seq }) => seq === message.seq)
      if (run === null || waiting === undefined || !isToBeAnnounced(world, run.id, waiting)) return false
      const earlier = unread.filter(({ sentTo }) => sentTo !== undefined).length
      world.agentInbox.leave(run.id, { topic: MESSAGES, text: messagesText({ count: unread.length, earlier, from: senderText(message.from) }) })
      return true
    })
}

function isToBeAnnounced({ agentInbox }: Pick<World, 'agentInbox'>, run: string, message: Told['message']): boolean {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const { version, text } = agentInbox.told(run)
    const told = announced(toldFrom(text), message)
    if (told === null) return false
    if (agentInbox.recordTold(run, version, JSON.stringify(told))) return true
  }
  return false
}
