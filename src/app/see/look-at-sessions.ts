import { type Looked, type LookPorts, lookAtAll, usageOf } from '../../act/index.ts'
import { converge, endedAt, type Verdict, verdict } from '../../decide/index.ts'
import type { HoldfastEvent, LiveRun, Lock, Run, Session, SessionRecord, Snapshot, Store } from '../../model/index.ts'
import { isLive, liveRunsOf, Problem } from '../../model/index.ts'
import type { SessionView } from '../../show/index.ts'
import { activityOf } from '../activity/activity.ts'
import { learnAtEnd } from '../conversation/conversation.ts'
import { learnAll } from '../conversation/learn.ts'
import { recordEndedNested } from '../conversation/nested.ts'
import { hasHooks } from '../hooks/install-hooks.ts'
import { judgeLocks } from '../lock/judge-locks.ts'
import { forgottenLocks, stillForgotten } from '../lock/trees-without-record.ts'
import { withTokens } from '../usage/tokens-of-sessions.ts'
import { worktreeAt } from '../worktree/worktree.ts'
import { type Recorder, recordInPassing } from '../world/best-effort-write.ts'
import type { World } from '../world/world.ts'
import { findSeen } from './find-seen.ts'
import { findSession } from './find-session.ts'
import { haveFinished } from './have-finished.ts'
import { watchSpending } from './watch-spending.ts'

/** `locks`: those that were on record when it was looked. */
export type SeenAll = { readonly sights: SessionView[]; readonly unreadable: readonly string[]; readonly locks: readonly Lock[] }

/** Reads converge: what is proven over is recorded and shown as ended. They signal nothing and never wait for a writer. */
export async function seeAll(world: World, which: 'live' | 'all'): Promise<SeenAll> {
  const store = await world.store('reader')
  const { views, locks, unreadable } = await currentViews(world, store, which)
  const sights = await seeViews(world, store, views, 'glance')
  const forgotten = await seeForgotten(world, store, locks)
  const isShown = ({ session, run }: SessionView): boolean =>
    (which === 'all' || isLive(run)) && !forgotten.some((one) => one.session.id === session.id && one.run.id === run.id)
  return { sights: [...sights.filter(isShown), ...forgotten], unreadable, locks }
}

/** With the conversations that their agents show now. */
async function currentViews(world: World, store: Store, which: 'live' | 'all'): Promise<Snapshot> {
  const seen = await store.sessions.snapshot(which, world.policy.sessionsShown)
  return (await learnAll(world, store, seen.views)) ? store.sessions.snapshot(which, world.policy.sessionsShown) : seen
}

/** Trees that live although their runs are over on record: nothing that lives is hidden by a row. */
async function seeForgotten(world: World, store: Store, known: readonly Lock[]): Promise<SessionView[]> {
  const locks = await forgottenLocks(store, null, known)
  const judged = await judgeLocks(world, locks)
  const alive = locks.filter(({ seq }) => judged.get(seq)?.kind !== 'free')
  const sights: SessionView[] = []
  for (const lock of await stillForgotten(store, alive)) {
    const state = judged.get(lock.seq)
    const found = state === undefined || state.kind === 'free' ? null : await store.sessions.find(lock.session, 'exact')
    const run = await store.runs.get(lock.run)
    if (found?.kind !== 'found' || run === null || state === undefined || state.kind === 'free') continue
    const note = `its run is over on record, but its tree is not: ${state.why}; holdfast stop ${lock.session} ends it`
    const [liveness, pid] = state.kind === 'held' ? (['alive', state.pid] as const) : (['unknown', null] as const)
    const tasks = await watchSpending(world, store, run, { keeperGone: false, agentGone: false, activity: null }, 'glance')
    sights.push({ session: found.view.session, run, liveness, pid, note, tasks, worktree: worktreeAt(world, run.dir) })
  }
  return withTokens(world, store, sights, 'glance')
}

export async function seeOne(world: World, reference: string): Promise<SessionView> {
  const store = await world.store('reader')
  // Another session may write its conversation: whoever reads either of them finds that.
  await learnAll(world, store)
  return seeFound(world, await findSession(store, reference))
}

/** A session as it was just found. */
export async function seeFound(world: World, view: SessionRecord): Promise<SessionView> {
  const store = await world.store('reader')
  const [sight] = await seeViews(world, store, [view], 'all')
  if (sight === undefined) throw new Problem('run-unknown', `session ${view.session.id} has no run on record any more`)
  return sight
}

async function seeViews(world: World, store: Store, views: readonly SessionRecord[], effort: 'all' | 'glance'): Promise<SessionView[]> {
  const live = liveRunsOf(views)
  const looked = await lookSettled(world, live)
  const sights: SessionView[] = []
  const recorder = recordInPassing()
  for (const { session, run } of views) {
    if (run === null) continue
    const seen = looked.get(run.id)
    if (isLive(run)) world.runLogs.cap(run.id)
    sights.push({
      session,
      worktree: worktreeAt(world, run.dir),
      ...(isLive(run) && seen !== undefined ? await convergeOne(world, store, session, run, seen, recorder, effort) : ended(run)),
    })
  }
  return withTokens(world, store, sights, effort)
}

/** A keeper that is just writing down an end gets a moment to do it. */
export async function lookSettled(world: LookPorts & Pick<World, 'clock' | 'policy'>, runs: readonly LiveRun[]): Promise<Map<string, Looked>> {
  const looked = await lookAtAll(runs, world)
  const until = world.clock.elapsed() + SETTLE_READ_MS
  for (;;) {
    const settling = runs.filter((run) => verdict(run, looked.get(run.id) as Looked).kind === 'settling')
    if (settling.length === 0 || world.clock.elapsed() >= until) return looked
    await world.clock.sleep(world.policy.pollMinMs * 5)
    for (const [id, again] of await lookAtAll(settling, world)) looked.set(id, again)
  }
}
const SETTLE_READ_MS = 300

type Converged = Pick<SessionView, 'run' | 'liveness' | 'pid' | 'note' | 'activity' | 'tasks'>

const ended = (run: Run): Converged => ({ run, liveness: 'dead', pid: isLive(run) ? null : (run.harness?.pid ?? null), note: null, tasks: [] })

async function convergeOne(
  world: World,
  store: Store,
  session: Session,
  run: LiveRun,
  seen: Looked,
  record: Recorder,
  effort: 'all' | 'glance',
): Promise<Converged> {
  const judged = verdict(run, seen)
  const step = converge(run, judged, { ranMs: 0, maySignal: false, parentEnded: false })
  const pid = seen.harnessId?.pid ?? null
  if (step.kind === 'record-end') {
    const at = endedAt(run, seen.exit, world.clock.now())
    // Whoever records an end first says what the agent has left of itself: later nobody may.
    await record(() => learnAtEnd(world, store, run))
    const ending = { ...step.ending, usage: usageOf(run, [], world) }
    await record(() => store.claims.recordEnded(run, ending, seen.harnessId, at))
    const now = await store.runs.get(run.id)
    const over = now !== null && !isLive(now) ? now : { ...run, ...ending, harness: seen.harnessId, endedAt: at }
    if (now !== null && !isLive(now)) await record(() => recordEndedNested(world, store, over))
    return ended(over)
  }
  if (step.kind === 'record-exit') await record(() => store.claims.recordExited(run, step.exit, world.clock.now()))
  const finishing = await haveFinished(world, run, judged, seen.keeper)
  const over = judged.kind === 'leftovers' || judged.kind === 'settling'
  const shown: LiveRun =
    over && run.state !== 'stopping'
      ? { ...run, state: 'stopping', intent: null, survivors: [], exit: judged.kind === 'leftovers' ? judged.exit : null }
      : run
  const activity = isAtWork(shown, judged, seen) ? activityOf(world, session, shown, () => seen.harnessId) : null
  const watchers = { keeperGone: seen.keeper?.kind === 'gone', agentGone: seen.harness?.kind === 'gone', activity }
  return {
    run: shown,
    liveness: livenessOf(judged),
    pid,
    activity,
    tasks: await watchSpending(world, store, shown, watchers, effort),
    note: finishing
      ? 'the agent ended, and its keeper with it; what it started is being ended now'
      : (fenceNote(world, shown, judged) ?? handedOverNote(world, shown, judged, seen) ?? noteOf(shown, judged, seen)),
  }
}

/** One that is ending, frozen or gone is at nothing, whatever it said before. */
const isAtWork = (run: LiveRun, { kind }: Verdict, { harness }: Looked): boolean =>
  kind === 'alive' && run.state === 'running' && harness?.kind === 'alive' && !harness.frozen

/** Fenced off, but not asked to end: nobody else says why its tool calls are denied. */
function fenceNote(world: World, run: LiveRun, { kind }: Verdict): string | null {
  const intent = kind === 'alive' && run.state === 'running' ? world.fences.intent(run.id) : null
  if (intent === null) return null
  return `${hasHooks(world, run.id) ? 'its tool calls are denied' : 'it is fenced off, but no hooks are installed that would deny its tool calls'}: ${intent.reason}`
}

/** Its command is over, its session is not. */
const handedOverNote = (
  { harnessDaemonRules }: Pick<World, 'harnessDaemonRules'>,
  { argv }: LiveRun,
  { kind }: Verdict,
  { harness }: Looked,
): string | null =>
  kind === 'alive' && harness?.kind === 'gone' && harnessDaemonRules.handsOver(argv) !== null
    ? "its session goes on in its harness's own daemon"
    : null

const livenessOf = (judged: Verdict): SessionView['liveness'] =>
  judged.kind === 'unknown' ? 'unknown' : judged.kind === 'settling' ? 'dead' : 'alive'

function noteOf(run: LiveRun, judged: Verdict, seen: Looked): string | null {
  switch (judged.kind) {
    case 'alive':
      if (seen.harness?.kind === 'alive' && seen.harness.frozen) return 'the agent is stopped (SIGSTOP or Ctrl-Z)'
      if (run.adopted) return 'it was adopted while it ran: how it ends will not be known'
      if (seen.harness?.kind === 'gone') return 'the agent ended, its tree lives on (--until tree)'
      return seen.keeper?.kind === 'gone' && seen.exit === null ? 'its keeper is gone: how it ends will not be known' : null
    case 'leftovers':
      if (run.state === 'stopping' && run.survivors.length > 0) return 'the agent ended, and what it started could not be ended: see the survivors'
      if (judged.members.length === 0)
        return 'the agent ended, a shared daemon of its harness still works on the session; holdfast reconcile ends that'
      return `the agent ended, ${judged.members.length} of what it started still run${judged.members.length === 1 ? 's' : ''}; holdfast reconcile ends them`
    case 'starting':
    case 'settling':
    case 'unknown':
      return judged.why
    case 'over':
      return null
  }
}

/** The newest, and of more than `limit` the newest of them. */
export async function seeEvents(world: World, reference: string | null, after: number, limit = world.policy.eventsShown): Promise<HoldfastEvent[]> {
  const store = await world.store('reader')
  const session = reference === null ? null : (await findSeen(world, reference)).session.id
  if (reference !== null && after === 0)
    await seeOne(world, reference).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error
    })
  return store.events.list({ session, after, limit })
}
