import { isLive, Problem } from '../../model/index.ts'
import { seeOne } from '../see/look-at-sessions.ts'
import type { World } from '../world/world.ts'
import { seePane } from './join-pane.ts'

/** The output of a session's newest run, oldest first; `follow` goes on until it ends. Only detached runs have a log; of a live one in a pane it is its screen. */
export async function* logs(world: World, reference: string, how: { follow: boolean; lines: number | null }): AsyncGenerator<Uint8Array> {
  const { runLogs, clock, policy } = world
  const { run } = await seeOne(world, reference)
  if (isLive(run) && run.tmux !== null) {
    if (how.follow)
      throw new Problem('pane-not-followable', `session ${run.session} is in a tmux pane: that is looked at, and not followed`, {
        hint: `holdfast attach ${run.session} joins it; without -f its screen is shown`,
      })
    const text = await seePane(world, { ...run, tmux: run.tmux }, how.lines)
    if (text !== null) {
      yield new TextEncoder().encode(
        how.lines === null
          ? text
          : text
              .split('\n')
              .slice(-how.lines - 1)
              .join('\n'),
      )
      return
    }
  }
  runLogs.cap(run.id)
  if (how.lines === null) yield* runLogs.read(run.id, 'before', 0)
  let at = how.lines === null ? 0 : runLogs.tail(run.id, how.lines)
  for (let over = !isLive(run); ; ) {
    for (const chunk of runLogs.read(run.id, 'now', at)) {
      at += chunk.length
      yield chunk
    }
    if (!how.follow || over) return
    await clock.sleep(policy.followMs)
    // Whoever looked last may have capped it in the meantime.
    at = Math.min(at, runLogs.size(run.id))
    // A next run has a log of its own; this one is over then.
    const newest = (await seeOne(world, reference)).run
    over = newest.id !== run.id || !isLive(newest)
  }
}
