import type { Addressed, Inbox, Sender, Sent, Store } from '../../model/index.ts'
import { isLive, MESSAGES, Problem } from '../../model/index.ts'
import { mySession, whoMayAct } from '../caller/who-am-i.ts'
import { findSeen } from '../see/find-seen.ts'
import { seeOne } from '../see/look-at-sessions.ts'
import type { World } from '../world/world.ts'
import { announce } from './agent-news.ts'
import { chosenSiblings } from './siblings.ts'

/** To one session, by any id or name it ever had, or to all that live, here or anywhere. */
export type MessageRequest = { readonly to: { readonly session: string } | 'here' | 'all'; readonly text: string }

/** `notes`: what the sender should know. */
export type SentMessage = Sent & { readonly notes: readonly string[] }

/** Who sends it is stamped from proof; to whom it goes is settled now. */
export async function sendMessage(world: World, { to, text }: MessageRequest): Promise<SentMessage> {
  refuseText(world, text)
  const self = await whoMayAct(world)
  const me = self.kind === 'session' ? self : null
  const from: Sender = {
    session: me?.session.id ?? null,
    run: me?.run.id ?? null,
    how: me?.how ?? null,
    agent: self.kind === 'agent' ? { harness: self.agent.harness, inside: self.inside } : null,
    user: world.user(),
    host: world.host,
  }
  const { readers, unreadable } =
    typeof to === 'object' ? { readers: [await readerOf(world, to.session, from.session)], unreadable: [] } : await readersOf(world, to)
  const at = world.clock.now()
  const store = await world.store('writer')
  const sent = await store.messages.send({
    at,
    expiresAt: at + world.policy.messageMs,
    from,
    to: addressed(to),
    text,
    readers: readers.map(({ session }) => session),
    inboxSize: world.policy.inboxSize,
  })
  if (sent.seq !== null) await announce(world, store, sent.reached, { seq: sent.seq, from })
  const unsure = readers.filter(({ session, unknown }) => unknown && sent.reached.includes(session))
  const notes = [
    ...unsure.map(({ session }) => `whether ${session} is alive cannot be told; it is kept until it is read`),
    ...sent.full.map((session) => `${session} has ${world.policy.inboxSize} unread messages already, and did not get it`),
    ...sent.gone.map((session) => `${session} has just ended, and did not get it`),
    ...unreadable.map((run) => `run ${run} in the store cannot be read: whoever has it did not get it`),
  ]
  if (typeof to === 'object' && sent.reached.length === 0)
    throw new Problem(sent.full.length > 0 ? 'inbox-full' : 'message-undelivered', notes.join('; '), { hint: `holdfast status ${to.session}` })
  return { ...sent, notes }
}

const addressed = (to: MessageRequest['to']): Addressed => (typeof to === 'object' ? 'session' : to)

function refuseText(world: Pick<World, 'policy'>, text: string): void {
  if (text.trim() === '') throw new Problem('text-empty', 'there is nothing to send: the message is empty')
  const bytes = Buffer.byteLength(text)
  if (bytes > world.policy.messageBytes)
    throw new Problem('text-too-long', `a message has ${world.policy.messageBytes} bytes at most, and this one has ${bytes}`, {
      hint: 'put the long part into a file, and say where it is',
    })
}

type Reader = { readonly session: string; readonly unknown: boolean }

/** Nobody reads what is sent to a session that is over: that is said, not swallowed. */
async function readerOf(world: World, reference: string, self: string | null): Promise<Reader> {
  const { session, run, liveness } = await seeOne(world, reference)
  if (session.id === self)
    throw new Problem('message-to-self', `session ${session.id} is you; a message goes to somebody else`, { hint: 'holdfast siblings lists them' })
  if (liveness === 'dead' || (run.state === 'stopping' && liveness === 'alive'))
    throw new Problem(
      'session-not-running',
      `session ${session.id} is ${isLive(run) ? 'ending' : 'not running'} (${run.state}): nobody would read it`,
      {
        hint: `holdfast resume ${session.id} starts its next run; holdfast siblings lists who is there`,
      },
    )
  return { session: session.id, unknown: liveness === 'unknown' }
}

async function readersOf(world: World, to: 'here' | 'all'): Promise<{ readers: Reader[]; unreadable: readonly string[] }> {
  const { chosen, unreadable } = await chosenSiblings(world, await world.store('reader'), { here: to === 'here' })
  // Whose agent is over, or told to end, reads nothing.
  const readers = chosen.filter(({ sight }) => sight.liveness === 'unknown' || (isLive(sight.run) && sight.run.state !== 'stopping'))
  return { readers: readers.map(({ sight }) => ({ session: sight.session.id, unknown: sight.liveness === 'unknown' })), unreadable }
}

/** `session`: somebody else's, which can only be peeked at: what is read is read by who it is for. */
export type InboxRequest = { readonly peek: boolean; readonly waitMs: number | null; readonly session?: string | undefined }

/** Each message is given out once to its reader, so many at once as one can take in. Waiting ends with the first one, or with the time. */
export async function readInbox(world: World, { peek, waitMs, session }: InboxRequest): Promise<Inbox> {
  if (session !== undefined && !peek)
    throw new Problem('inbox-foreign', 'the inbox of another session can only be looked at', { hint: `holdfast inbox --session ${session} --peek` })
  const own = session === undefined ? (await mySession(world, 'have an inbox')).run.id : null
  const { clock, policy } = world
  const until = clock.elapsed() + (waitMs ?? 0)
  for (;;) {
    const store = await world.store(peek ? 'reader' : 'writer')
    // By its present id, which may change while we wait, and be another one's.
    const reader = own === null ? (await findSeen(world, session ?? '')).session.id : await ownedBy(store, own)
    const waiting = await store.messages.unread(reader, clock.now())
    const most = { count: policy.inboxSize, bytes: policy.inboxBytes }
    const messages = waiting > 0 ? await store.messages.inbox(reader, peek ? 'peek' : 'read', most, clock.now()) : []
    if (messages.length > 0 || clock.elapsed() >= until) {
      // What was read needs no announcing.
      if (!peek && own !== null) world.agentInbox.drop(own, MESSAGES)
      return { messages, left: Math.max(0, waiting - messages.length) }
    }
    await clock.sleep(Math.min(policy.followMs, Math.max(1, until - clock.elapsed())))
  }
}

/** What was taken out and could not be handed over is there again. */
export async function giveBack(world: World, { messages }: Inbox): Promise<void> {
  if (messages.length === 0) return
  const { session } = await mySession(world, 'have an inbox')
  await (await world.store('writer')).messages.giveBack(session.id, messages)
}

/** The session that a run still owns. */
async function ownedBy(store: Store, id: string): Promise<string> {
  const run = await store.runs.get(id)
  if (run !== null && isLive(run)) return run.session
  throw new Problem('caller-ended', `run ${id} is over by now, and reads nothing any more`, { hint: 'holdfast whoami' })
}
