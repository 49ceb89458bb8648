import { conversationMeant, idIn, isHeadless } from '../../decide/index.ts'
import { argumentsOf } from '../../harness/index.ts'
import type { Found, Harness, OnDisk, Session, SessionRecord, Store } from '../../model/index.ts'
import { isLive, neverBegan, Problem, SESSION_ID } from '../../model/index.ts'
import { learnAll } from '../conversation/learn.ts'
import { findSession } from '../see/find-session.ts'
import type { World } from '../world/world.ts'
import { isInstalled } from './agent-command.ts'
import { hasSpoken, isOnDisk } from './conversation-left.ts'
import type { StartRequest } from './request.ts'

/** `moved`: another session than the one that was named goes on with its conversation. */
export type Resumption = Pick<StartRequest, 'session' | 'argv' | 'harness' | 'resume' | 'dir'> & {
  readonly moved?: { readonly from: string; readonly to: string }
}

/**
 * The next run of a session: its harness goes on with the conversation, in its directory. Of a command that we know nothing of, the same
 * again. `args`: what the caller adds (or, where we know nothing, the command to run instead).
 */
export async function resumptionOf(
  world: World,
  reference: string,
  args: readonly string[] | null,
  { dir, ends }: { readonly dir: string | undefined; readonly ends: boolean },
): Promise<Resumption> {
  const store = await world.store('writer')
  const found = await findNow(world, store, reference)
  if (found.kind === 'none') {
    const elsewhere = onDisk(world, reference)
    if (elsewhere !== null) return fromDisk(elsewhere, args, dir)
  }
  const left = found.kind === 'found' ? leftBehind(world, found.view, reference) : null
  if (left !== null) return fromDisk(left, args, dir)
  const named = await findSession(store, reference, ends ? 'near' : 'prefix')
  const meant = await earlierConversation(world, store, named, reference)
  const { session, run } = meant === null ? await followMove(store, named) : named
  const moved = session.id === named.session.id ? {} : { moved: { from: named.session.id, to: session.id } }
  const about = { session: session.id, dir: dir ?? session.dir, ...moved }
  const harness = world.harnesses().find(({ name }) => name === session.harness)
  // An agent from config.toml without resume words runs its command again. An agent that we know is never begun anew in silence.
  const isOwn = world.ownHarnesses().includes(harness as Harness)
  if (harness === undefined || (harness.speech.resume === null && (isOwn || args !== null))) return { ...about, argv: args ?? session.argv }
  const native = harness.speech.resume === null ? null : (meant ?? presentConversation(session, harness))
  refuseElsewhere(harness, session, dir)
  refuseLost(world, harness, { session, run }, native)
  return { ...about, harness: harness.name, argv: args ?? [], resume: { native, from: argumentsOf(session.argv, harness) } }
}

/** Which conversation is whose may have changed since anybody looked. */
async function findNow(world: World, store: Store, reference: string): Promise<Found> {
  const found = await store.sessions.find(reference, 'prefix')
  const isOurs = found.kind === 'found' && [found.view.session.id, found.view.session.name].includes(reference)
  if (isOurs && found.view.session.id !== found.view.session.native) return found
  await learnAll(world, await world.store('reader'))
  return store.sessions.find(reference, 'prefix')
}

/** A conversation that a live session has left is nobody's: it goes on in a session of its own. */
function leftBehind(world: Pick<World, 'env' | 'harnesses' | 'readDatabase'>, { session, run }: SessionRecord, reference: string): Elsewhere | null {
  if (run === null || !isLive(run) || session.native === null || [session.id, session.name, session.native].includes(reference)) return null
  const harness = world.harnesses().find(({ name }) => name === session.harness)
  const there =
    harness === undefined || harness.speech.resume === null ? null : (harness.sessions?.find(world.env, reference, world.readDatabase) ?? null)
  return there === null || harness === undefined ? null : { ...there, harness }
}

/** A conversation that went to another session is resumed there. */
async function followMove(store: Store, view: SessionRecord): Promise<SessionRecord> {
  const { wentTo, native, id } = view.session
  if (wentTo === null || native !== null) return view
  const next = await store.sessions.find(wentTo, 'exact')
  return next.kind === 'found' && next.view.session.id !== id ? next.view : view
}

/** An earlier conversation of the session, where the reference names one; null: it names the session. */
async function earlierConversation(
  world: Pick<World, 'env' | 'harnesses' | 'readDatabase'>,
  store: Store,
  { session }: SessionRecord,
  reference: string,
): Promise<string | null> {
  const harness = world.harnesses().find(({ name }) => name === session.harness)
  if (harness === undefined) return null
  const meant = conversationMeant(reference, session, await store.sessions.aliases(session.id), {
    isThere: (id) => isOnDisk(world, harness, id),
    isLike: (id) => (harness.speech.id ?? SESSION_ID).test(id),
  })
  if (meant.kind === 'ambiguous')
    throw new Problem('conversation-ambiguous', `${reference} could be any of these in session ${session.id}: ${meant.ids.join(', ')}`, {
      hint: 'give the whole id of the conversation, or the name of the session for its last one',
      detail: { session: session.id, candidates: meant.ids },
    })
  return meant.kind === 'conversation' ? meant.id : null
}

/** The last that it carried; null: that is not known. */
const presentConversation = (session: Session, harness: Harness): string | null => session.native ?? idIn(harness, argumentsOf(session.argv, harness))

/** A conversation that was never given a prompt begins anew under its id. One that had content and is not there would be replaced in silence. */
function refuseLost(world: Pick<World, 'env' | 'readDatabase'>, harness: Harness, { session, run }: SessionRecord, native: string | null): void {
  if (native === null || harness.sessions === null || isOnDisk(world, harness, native)) return
  if (native === session.native && !hasSpoken(run)) return
  throw new Problem('conversation-missing', `${harness.title} has no conversation ${native} here: it was removed, or lies in another home`, {
    hint: `to begin a new one in session ${session.id}: holdfast run --session ${session.id} --new ${harness.name}`,
  })
}

/** Some find their sessions only where they were. */
function refuseElsewhere(harness: Harness, session: Session, dir: string | undefined): void {
  if (dir === undefined || harness.resumeIn === 'any' || dir === session.dir) return
  throw new Problem('conversation-elsewhere', `${harness.title} finds a session only in the directory where it was: ${session.dir}`, {
    hint: 'leave --dir out',
  })
}

type Elsewhere = OnDisk & { readonly harness: Harness }

/** A session of some harness that Holdfast has never run. */
function onDisk(world: Pick<World, 'directories' | 'env' | 'harnesses' | 'readDatabase'>, id: string): Elsewhere | null {
  const found = world.harnesses().flatMap((harness) => {
    const session = harness.speech.resume === null ? null : (harness.sessions?.find(world.env, id, world.readDatabase) ?? null)
    return session === null ? [] : [{ ...session, harness }]
  })
  // Two may read the same files: then it is of the one that is installed.
  const files = new Set(found.map(({ path }) => path))
  const [first, ...more] =
    files.size === 1 ? [found.find(({ harness }) => isInstalled(world, harness)) ?? found[0]].flatMap((one) => one ?? []) : found
  if (more.length > 0)
    throw new Problem('conversation-ambiguous', `${id} is a session of ${found.map(({ harness }) => harness.title).join(' and of ')}`, {
      hint: 'say which: holdfast run HARNESS …, with its own way to resume',
    })
  return first ?? null
}

function fromDisk({ harness, id, dir: was }: Elsewhere, args: readonly string[] | null, dir: string | undefined): Resumption {
  const at = dir ?? was
  if (at === null)
    throw new Problem('conversation-directory-unknown', `where the ${harness.title} session ${id} worked is not known`, {
      hint: 'say where with --dir',
    })
  return { session: undefined, harness: harness.name, argv: args ?? [], resume: { native: id, from: [] }, dir: at }
}

/** Sessions to choose from: those that are over first in mind, the newest first. Of what never started there is nothing to go on with. */
export async function resumable(world: Pick<World, 'policy' | 'store'>, dir: string | null): Promise<SessionRecord[]> {
  const { views } = await (await world.store('reader')).sessions.snapshot('all', world.policy.sessionsShown)
  return views.filter(({ run }) => run !== null && run.task === null && run.parent === null && !neverBegan(run) && (dir === null || run.dir === dir))
}

/** A run that had a prompt and ended with it is not started again by itself: its turns are not idempotent. */
export function refuseSamePrompt(world: Pick<World, 'harnesses'>, { session, run }: SessionRecord): void {
  const harness = world.harnesses().find(({ name }) => name === session.harness)
  if (harness === undefined || run === null || !isHeadless(harness, argumentsOf(session.argv, harness))) return
  throw new Problem('prompt-repeated', `session ${session.id} was given its prompt on the command line; a restart would have it done twice`, {
    hint: `${isLive(run) ? `holdfast resume ${session.id} --takeover` : `holdfast resume ${session.id}`} --prompt TEXT goes on with another one`,
  })
}
