import { decideNotification, type Happening, heldBack, historyFrom, nowDue } from '../../decide/index.ts'
import type { HoldfastEvent, Notification, Notified, NotifyHistory, NotifyKind, NotifyWay } from '../../model/index.ts'
import { type StoreWatch, storeWatch } from '../../record/index.ts'
import { heldBackText, notificationText } from '../../show/index.ts'
import { endsWithAnswer } from '../activity/activity.ts'
import { daemonPlace } from '../daemon/place.ts'
import type { World } from '../world/world.ts'

/** How far it was heard; null: nobody has asked yet. */
export type Heard = { readonly store: StoreWatch; notified: Notified | null }
export const nothingHeard = (): Heard => ({ store: storeWatch(), notified: null })

/** What happened since it was last looked, as far as a person is told of it. Each is given out once, also if we die right after; what has to wait outlives us. */
export async function newNotifications(world: World, heard: Heard): Promise<readonly Notification[]> {
  const now = world.clock.now()
  const { files } = daemonPlace(world)
  const before = heard.notified ?? files.notified()
  const isNew = heard.store.isNew(world.home)
  const { events, seq } = isNew ? await unseenEvents(world, before?.seq ?? null) : { events: [], seq: before?.seq ?? 0 }
  const known = heard.notified === null ? historyFrom(before, now, world.policy) : heard.notified.history
  const { notifications, history } = await newsOf(world, events, known, now)
  const notified = { seq, at: now, history }
  if (seq !== before?.seq || JSON.stringify(history) !== JSON.stringify(before.history)) files.writeNotified(notified)
  heard.notified = notified
  if (isNew) heard.store.settle()
  return notifications
}

/** At first there is nothing to tell; of more than can be read at once, the newest. A store that was lost numbers from 1 again. */
async function unseenEvents(
  { store, policy }: Pick<World, 'policy' | 'store'>,
  seen: number | null,
): Promise<{ readonly events: readonly HoldfastEvent[]; readonly seq: number }> {
  const reader = await store('reader')
  const newest = (await reader.events.list({ session: null, after: 0, limit: 1 })).at(-1)?.seq ?? 0
  if (seen === null || seen >= newest) return { events: [], seq: newest }
  const events = await reader.events.list({ session: null, after: seen, limit: policy.eventsShown })
  return { events, seq: events.at(-1)?.seq ?? newest }
}

type News = { readonly notifications: readonly Notification[]; readonly history: NotifyHistory }

async function newsOf(
  world: Pick<World, 'agentState' | 'harnesses' | 'notify' | 'policy' | 'store'>,
  events: readonly HoldfastEvent[],
  known: NotifyHistory,
  now: number,
): Promise<News> {
  const notifications: Notification[] = []
  let history = known
  for (const [index, event] of events.entries()) {
    const happening = await happeningOf(world, event, events.slice(index + 1))
    const decided = decideNotification(happening, world.notify(), history, now, world.policy)
    history = decided.history
    if (decided.decision.kind === 'tell') notifications.push(await notificationOf(world, event, decided.decision.as))
  }
  const late = nowDue(history, now, world.policy)
  for (const { event, as, count } of late.due) notifications.push(await notificationOf(world, event, as, count))
  const held = heldBack(late.history, now, world.policy)
  if (held.count > 0)
    notifications.push({ kind: 'more', session: null, run: null, seq: events.at(-1)?.seq ?? 0, at: now, ...heldBackText(held.count) })
  return { notifications, history: held.history }
}

async function happeningOf(
  world: Pick<World, 'agentState' | 'harnesses' | 'store'>,
  event: HoldfastEvent,
  later: readonly HoldfastEvent[],
): Promise<Happening> {
  const store = await world.store('reader')
  const isAbout = ({ kind }: HoldfastEvent): boolean => kind === 'activity' || kind === 'ended'
  const run = isAbout(event) ? await store.runs.get(event.run) : null
  const found = run === null ? null : await store.sessions.find(run.session, 'exact')
  const headless = run !== null && found?.kind === 'found' && endsWithAnswer(world, found.view.session, run)
  return {
    event,
    run,
    watched: run !== null && !run.detached && run.tty !== null && !headless,
    headless,
    outdone: event.kind === 'activity' && later.some((other) => isAbout(other) && other.run === event.run),
  }
}

async function notificationOf(world: Pick<World, 'policy' | 'store'>, event: HoldfastEvent, as: NotifyKind, count = 1): Promise<Notification> {
  const store = await world.store('reader')
  const { session, run, seq, at } = event
  const found = await store.sessions.find(session, 'exact')
  const name = (found.kind === 'found' ? found.view.session.name : null) ?? session
  return { kind: as, session, run, seq, at, ...notificationText(as, event, name, world.policy.notifyLength, count) }
}

/** Which ways there are to a person from here; of the others, why not. */
export function notifyWays(world: Pick<World, 'notifiers' | 'notify'>): readonly { readonly way: NotifyWay; readonly why: string | null }[] {
  const { desktop, bell, command } = world.notify()
  const off = 'config.toml has not turned it on'
  return [
    { way: 'desktop', why: desktop ? world.notifiers.desktopTrouble() : 'config.toml has turned it off' },
    { way: 'bell', why: bell ? null : off },
    { way: 'command', why: command === null ? off : null },
  ]
}

/** Throws with a sentence where a person could not be reached this way. */
export async function deliver(
  world: Pick<World, 'evidence' | 'notifiers' | 'notify' | 'processes' | 'store'>,
  way: NotifyWay,
  notification: Notification,
): Promise<void> {
  const { command } = world.notify()
  if (way === 'desktop') await world.notifiers.desktop(notification)
  if (way === 'bell') await ring(world, notification)
  if (way === 'command' && command !== null) await world.notifiers.command(command, notification)
}

/** At the terminal that the agent is on; in a pane, tmux hands it on to whoever looks. Else at the one that it was started from, if that is still the same. */
async function ring(
  { evidence, processes, notifiers, store }: Pick<World, 'evidence' | 'notifiers' | 'processes' | 'store'>,
  { run: id }: Notification,
): Promise<void> {
  const agent = id === null ? null : evidence.harness(id)
  const terminal = agent === null ? null : processes.terminal(agent)
  if (terminal !== null) return notifiers.bell(terminal.path)
  const run = id === null ? null : await (await store('reader')).runs.get(id)
  if (run !== null && run.tty !== null && processes.isTerminalSince(run.tty, run.startedAt)) notifiers.bell(run.tty)
}
