import { isThere } from '../act/index.ts'
import type { Pane, Run, RunBase } from '../model/index.ts'
import { Problem } from '../model/index.ts'
import { parentRun } from './caller.ts'
import type { World } from './world.ts'

/** `joined`: the command that waits for us becomes a client of it. */
export type Attached = 'joined' | 'switched' | 'here'

/** Joins a run in its pane: from a terminal, from inside another tmux, or from another pane of ours. */
export async function joinPane(world: World, run: RunBase & { readonly tmux: Pane }): Promise<Attached> {
  const { env, panes } = world
  const around = await parentRun(world, 'reader')
  if (around?.id === run.id) return 'here'
  const trouble = panes.trouble()
  if (trouble !== null) throw new Problem('unavailable', `the pane of session ${run.session} cannot be joined: ${trouble}`)
  if ((await panes.look(run.tmux)) === null) throw noPane(run)
  if (around?.tmux?.socket === run.tmux.socket && (await panes.switch(around.tmux, run.tmux))) return 'switched'
  // Said by our front, or by nobody: whatever else has this number is not ours to write to.
  if (Number(/^\d+/.exec(env['HOLDFAST_FRONT'] ?? '')?.[0]) !== process.ppid)
    throw new Problem('usage', 'to join a pane the holdfast command itself is needed', { hint: 'use bin/holdfast' })
  panes.join(run.tmux)
  return 'joined'
}

export const noPane = (run: RunBase): Problem =>
  new Problem('unavailable', `session ${run.session} is alive, but its tmux pane does not answer (${run.tmux?.socket ?? ''})`, {
    hint: `holdfast status ${run.session} · holdfast stop ${run.session}`,
  })

/** With its keeper the pane of a run is gone. One that is left although its keeper is proven gone shows nothing any more, and is closed. */
export async function closePane(world: World, run: Run): Promise<void> {
  const { clock, policy, panes, processes } = world
  if (run.tmux === null || run.keeper === null) return
  const until = clock.elapsed() + policy.keeperLeaveMs
  while ((await panes.look(run.tmux)) !== null) {
    if (clock.elapsed() < until) await clock.sleep(policy.pollMaxMs)
    else return isThere(run.keeper, processes) ? undefined : void (await panes.close(run.tmux))
  }
}

/** What its pane shows, with what has left it at the top; null: it does not answer. */
export const seePane = ({ panes, policy }: World, pane: Pane, lines: number | null): Promise<string | null> =>
  panes.capture(pane, Math.min(lines ?? policy.paneLines, policy.paneLines))
