import { isThere } from '../../act/index.ts'
import { judge } from '../../decide/index.ts'
import type { Ended, Pane, PaneView, Run, RunBase } from '../../model/index.ts'
import { frontPid, isLive, Problem } from '../../model/index.ts'
import { parentRun } from '../caller/caller.ts'
import { endOf } from '../see/end-of.ts'
import type { World } from '../world/world.ts'

/** A run in a pane, of which its keeper is the process. */
type Hosted = RunBase & Pick<Run, 'keeper'> & { readonly tmux: Pane }

/** What has become of a run that was joined, or was about to be; `ended` is null while it goes on. `shown`: its last screen was kept. */
export type AfterJoin = { readonly name: string; readonly ended: Ended | null; readonly shown: boolean }

/** `joined`: the command that waits for us has a client of it. `over`: it had ended first. */
export type Attached = { readonly kind: 'joined' | 'switched' | 'here' } | ({ readonly kind: 'over' } & AfterJoin & { readonly ended: Ended })

/** Joins a run in its pane: from a terminal, from inside another tmux, or from another pane of ours. */
export async function joinPane(world: World, run: RunBase & { readonly tmux: Pane }): Promise<Attached> {
  const { env, own, panes } = world
  const around = await parentRun(world, 'reader')
  if (around?.id === run.id) return { kind: 'here' }
  const trouble = panes.trouble()
  if (trouble !== null) throw new Problem('tmux-unavailable', `the pane of session ${run.session} cannot be joined: ${trouble.why}`)
  await reachServer(world, run)
  if (!(await panes.isOpen(run.tmux))) return withoutPane(world, run)
  if (around?.tmux?.socket === run.tmux.socket && (await panes.switch(around.tmux, run.tmux))) return { kind: 'switched' }
  // Said by our front, or by nobody: whatever else has this number is not ours to write to.
  if (frontPid(env) !== own.parent())
    throw new Problem('front-missing', 'to join a pane the holdfast command itself is needed', { hint: 'use bin/holdfast' })
  panes.join(run.tmux, run.id)
  return { kind: 'joined' }
}

/** One that has just ended is not alive without a pane. */
async function withoutPane(world: Pick<World, 'clock' | 'policy' | 'runLogs' | 'store'>, run: RunBase): Promise<Attached> {
  const ended = await endSoon(world, run.id)
  if (ended === null) throw noPane(run)
  return { kind: 'over', name: await nameOf(world, run), ended, shown: world.runLogs.size(run.id) > 0 }
}

/** How a run that was joined has ended, if it has. */
export async function endAfterJoin(world: World, id: string): Promise<AfterJoin> {
  const run = await (await world.store('reader')).runs.get(id)
  if (run === null) throw new Problem('run-unknown', `there is no run ${id}`)
  const isOpen = isLive(run) && run.tmux !== null && (await world.panes.isOpen(run.tmux))
  const ended = await (isOpen ? endOf : endSoon)(world, id)
  return { name: await nameOf(world, run), ended, shown: world.runLogs.size(id) > 0 }
}

/** With its pane gone, the end of a run is about to be on record. */
async function endSoon(world: Pick<World, 'clock' | 'policy' | 'store'>, id: string): Promise<Ended | null> {
  const { clock, policy } = world
  for (const until = clock.elapsed() + policy.keeperLeaveMs; ; ) {
    const ended = await endOf(world, id)
    if (ended !== null || clock.elapsed() >= until) return ended
    await clock.sleep(policy.pollMaxMs)
  }
}

async function nameOf(world: Pick<World, 'store'>, { session }: RunBase): Promise<string> {
  const found = await (await world.store('reader')).sessions.find(session, 'exact')
  return (found.kind === 'found' ? found.view.session.name : null) ?? session
}

/** Of one that has just ended it is said that it has. */
export async function paneOf(world: Pick<World, 'clock' | 'evidence' | 'panes' | 'policy' | 'processes' | 'store'>, run: Hosted): Promise<PaneView> {
  const pane = await lookFor(world, run)
  if (pane !== null) return pane
  const ended = await endSoon(world, run.id)
  if (ended === null) throw noPane(run)
  throw new Problem('session-not-running', `session ${run.session} has just ended (${ended.state}: ${ended.reason})`, {
    hint: `holdfast resume ${run.session} starts its next run`,
  })
}

/** The pane that its keeper is, and no other: somebody may have opened more beside it. */
async function lookFor(world: Pick<World, 'evidence' | 'panes' | 'processes'>, run: Hosted): Promise<PaneView | null> {
  const trouble = world.panes.trouble()
  if (trouble !== null) throw new Problem('tmux-unavailable', `the pane of session ${run.session} cannot be reached: ${trouble.why}`)
  await reachServer(world, run)
  return run.keeper === null ? null : world.panes.look(run.tmux, run.keeper.pid)
}

/** A server whose socket was swept away lives on, and nobody finds it: it makes another when it is told to. */
export async function reachServer({ panes, evidence, processes }: Pick<World, 'evidence' | 'panes' | 'processes'>, run: RunBase): Promise<boolean> {
  const server = run.tmux !== null && panes.isSwept(run.tmux) ? evidence.server(run.id) : null
  if (run.tmux === null || server === null || judge(processes, run.place, server).kind !== 'alive') return false
  return panes.restore(run.tmux, server)
}

const noPane = (run: RunBase): Problem =>
  new Problem('pane-silent', `session ${run.session} is alive, but its tmux pane does not answer (${run.tmux?.socket ?? ''})`, {
    hint: `holdfast status ${run.session} · holdfast stop ${run.session}`,
  })

/** With its keeper the pane of a run is gone. One that is left although its keeper is proven gone shows nothing any more, and is closed. */
export async function closePane(world: Pick<World, 'clock' | 'panes' | 'policy' | 'processes'>, run: Run): Promise<void> {
  const { clock, policy, panes, processes } = world
  if (run.tmux === null || run.keeper === null) return
  const until = clock.elapsed() + policy.keeperLeaveMs
  while (await panes.isOpen(run.tmux)) {
    if (clock.elapsed() < until) await clock.sleep(policy.pollMaxMs)
    else return isThere(run.keeper, processes) ? undefined : void (await panes.close(run.tmux))
  }
}

/** What its pane shows, with what has left it at the top; null: it has just ended, and what it showed is in its log. */
export async function seePane(
  world: Pick<World, 'clock' | 'evidence' | 'panes' | 'policy' | 'processes' | 'store'>,
  run: Hosted,
  lines: number | null,
): Promise<string | null> {
  const { panes, policy } = world
  const pane = await lookFor(world, run)
  const text = pane === null ? null : await panes.capture(run.tmux, pane, Math.min(lines ?? policy.paneLines, policy.paneLines))
  if (text === null && (await endSoon(world, run.id)) === null) throw noPane(run)
  return text
}
