import { isTelling, standsOn, typable } from '../../decide/index.ts'
import type { LiveRun, Pane, PaneView, Session } from '../../model/index.ts'
import { isFrozen, isLive, Problem } from '../../model/index.ts'
import { activityOf } from '../activity/activity.ts'
import { hasHooks } from '../hooks/install-hooks.ts'
import { seeOne } from '../see/look-at-sessions.ts'
import type { World } from '../world/world.ts'
import { paneOf } from './join-pane.ts'
import { promptMark } from './prompt-mark.ts'

/**
 * `yes`: its harness says so. `typed`: it stood on its screen, which went on after Enter, and nobody says more. `unknown`: its screen only moved,
 * as it may have done anyway. `no`: it was not taken, as far as can be seen.
 */
export type Sent = { readonly session: string; readonly run: string; readonly taken: 'yes' | 'typed' | 'unknown' | 'no'; readonly why: string }

type Hosted = LiveRun & { readonly tmux: Pane }

/** Types one block into the pane of a session, presses Enter, and says what came of it. */
export async function send(world: World, reference: string, text: string, how: { readonly force?: boolean } = {}): Promise<Sent> {
  const { run, session } = await seeOne(world, reference)
  if (!isLive(run))
    throw new Problem('session-not-running', `session ${run.session} is not running (${run.state}: ${run.reason})`, {
      hint: `holdfast resume ${run.session} starts its next run`,
    })
  if (run.tmux === null) throw cannotType(run)
  const block = typable(text, world.policy.sendBytes)
  if (block.kind === 'refused') throw new Problem('text-not-typable', `this cannot be typed: ${block.why}`)
  const hosted = { ...run, tmux: run.tmux }
  const answer = await world.panes.alone(`send ${run.cookie}`, world.policy.sendTurnMs, () =>
    type(world, session, hosted, block.text, how.force === true),
  )
  if (answer === null) throw new Problem('pane-busy', `others are typing to session ${run.session}`, { hint: 'try again' })
  return { session: run.session, run: run.id, ...answer }
}

const cannotType = (run: LiveRun): Problem =>
  new Problem(
    'session-without-pane',
    run.detached
      ? `session ${run.session} has no terminal: nobody can type to it`
      : `session ${run.session} runs in the foreground on ${run.tty ?? 'another terminal'}: only there can be typed to it`,
    { hint: `holdfast message ${run.session} TEXT reaches an agent that has our hooks or MCP; a session is hosted with: run --tmux` },
  )

type Answer = Pick<Sent, 'taken' | 'why'>
const no = (why: string): Answer => ({ taken: 'no', why })

async function type(world: World, session: Session, run: Hosted, text: string, force: boolean): Promise<Answer> {
  const { panes, agentState, policy } = world
  const obstacle = notNow(world, run) ?? (force ? null : inQuestion(world, session, run))
  if (obstacle !== null) return no(obstacle)
  const pane = await readyPane(world, run)
  if (pane === null) return no('somebody is in copy mode there, and could not be brought back from it')
  // Without it an old text would count as the one that was typed.
  const before = await panes.capture(run.tmux, pane, 0)
  if (before === null) return no('its screen cannot be seen, so nothing was typed')
  const typing = { world, run, pane, text, before, prompted: agentState.prompted(run.id) }
  if (!(await panes.paste(run.tmux, pane, text))) return no('tmux did not take it')
  const shown = await changed(typing)
  // Nothing is entered blind: whoever reads nothing now would act on it at another time.
  if (!shown.moved)
    return no(shown.screen === null ? UNSEEN : `its screen did not change within ${policy.sendShownMs / 1000} s, so Enter was not pressed; ${LATER}`)
  const settled = await settle(typing, shown.screen)
  if (settled === null) return no(UNSEEN)
  // What has come up meanwhile would be answered by it.
  const risen = notNow(world, run) ?? (force ? null : inQuestion(world, session, run))
  if (risen !== null) return no(`it was typed and stands there, but Enter was not pressed: ${risen}`)
  if (!(await panes.press(run.tmux, pane, 'Enter'))) return no('it was typed, but Enter could not be pressed')
  return outcome(typing, settled)
}

const LATER = 'it may still be read later'
const UNSEEN = `it was typed, but its screen could not be seen after that, so Enter was not pressed; ${LATER}`

function notNow({ evidence, fences, processes }: Pick<World, 'evidence' | 'fences' | 'processes'>, run: LiveRun): string | null {
  if (run.state !== 'running') return `it is ${run.state}`
  if (fences.isRetired(run.id)) return 'its agent was told to end'
  const harness = evidence.harness(run.id)
  const seen = harness === null ? null : processes.sample(harness.pid)
  if (harness === null || seen?.kind !== 'seen' || seen.row.ticks !== harness.ticks) return 'its agent cannot be seen'
  return isFrozen(seen.row.state) ? 'its agent is stopped (SIGSTOP or Ctrl-Z)' : null
}

/** A text that is typed into a question may well answer it. */
const inQuestion = (world: World, session: Session, run: LiveRun): string | null =>
  activityOf(world, session, run, () => world.evidence.harness(run.id))?.state === 'waiting'
    ? `it waits for an answer to a question, which this would be taken for; holdfast attach ${run.session} shows it, --force types all the same`
    : null

/** What is typed in copy mode goes to tmux: that is left first. */
async function readyPane(
  world: Pick<World, 'clock' | 'evidence' | 'panes' | 'policy' | 'processes' | 'store'>,
  run: Hosted,
): Promise<PaneView | null> {
  const pane = await paneOf(world, run)
  if (!pane.inMode) return pane
  await world.panes.leaveMode(run.tmux, pane)
  const again = await paneOf(world, run)
  return again.inMode ? null : again
}

/** A text on its way: `before` is what the screen showed, and `prompted` what was reported, until then. */
type Typing = {
  readonly world: World
  readonly run: Hosted
  readonly pane: PaneView
  readonly text: string
  readonly before: string
  readonly prompted: string | null
}

/** Null: it cannot be seen now, which says nothing of it. */
const screen = ({ world: { panes }, run, pane }: Typing): Promise<string | null> => panes.capture(run.tmux, pane, 0)

/** The screen, once the text stands on it, or soon after it has changed at all. One that was not seen to change has not. */
async function changed(
  typing: Typing,
): Promise<{ readonly moved: true; readonly screen: string } | { readonly moved: false; readonly screen: string | null }> {
  const { world, text, before } = typing
  let other: string | null = null
  for (let until = world.clock.elapsed() + world.policy.sendShownMs; ; ) {
    const now = await screen(typing)
    if (now !== null && standsOn(now, before, text)) return { moved: true, screen: now }
    if (now !== null && now !== before) other = now
    if (other !== null) until = Math.min(until, world.clock.elapsed() + world.policy.sendSettledMs)
    if (world.clock.elapsed() >= until) return other === null ? { moved: false, screen: now } : { moved: true, screen: other }
    await world.clock.sleep(world.policy.pollMaxMs)
  }
}

/** An Enter that comes while a paste is still being taken in may become a part of it. */
async function settle(typing: Typing, first: string): Promise<string | null> {
  const { clock, policy } = typing.world
  const until = clock.elapsed() + policy.sendSettledMs
  for (let last: string | null = first; ; ) {
    await clock.sleep(policy.followMs)
    const now = await screen(typing)
    if ((now !== null && now === last) || clock.elapsed() >= until) return now
    last = now
  }
}

async function outcome(typing: Typing, settled: string): Promise<Answer> {
  const { world, run, text, before, prompted } = typing
  const { clock, policy, agentState } = world
  const speaks = hasHooks(world, run.id)
  const until = clock.elapsed() + (speaks ? policy.sendProvenMs : policy.sendShownMs)
  let [seen, moved, stood, heard] = [false, false, standsOn(settled, before, text), prompted]
  while (clock.elapsed() < until) {
    heard = agentState.prompted(run.id)
    if (heard !== prompted && isPrompt(heard, text)) return { taken: 'yes', why: 'its harness has reported the prompt' }
    const now = await screen(typing)
    seen ||= now !== null
    moved ||= now !== null && now !== settled
    stood ||= now !== null && standsOn(now, before, text)
    if (moved && stood && !speaks) break
    await clock.sleep(policy.pollMaxMs)
  }
  if (seen && !moved && stood && isTelling(text)) return no('it stands on its screen, but Enter changed nothing there')
  const hook = speaks ? (heard === prompted ? 'its hook has not reported it yet' : 'its hook has reported another prompt') : 'nobody confirms more'
  if (!seen) return { taken: 'unknown', why: `Enter was pressed, but its screen could not be seen after that; ${hook}` }
  // Such as one that stood there before, with this behind it.
  if (speaks && heard !== prompted) return { taken: 'unknown', why: `its screen went on after Enter, but ${hook}` }
  if (moved && stood) return { taken: 'typed', why: `it stood on its screen, and the screen went on after Enter; ${hook}` }
  return { taken: 'unknown', why: `unconfirmed: the screen changed, but the text was not seen on it; ${hook}` }
}

/** A harness that does not say what the prompt was is believed that it was this. */
const isPrompt = (reported: string | null, text: string): boolean => [undefined, '-', promptMark(text)].includes(reported?.trim().split(' ')[2])
