import { type LookPorts, lookAt, markedAnywhere, release } from '../../act/index.ts'
import { verdict } from '../../decide/index.ts'
import type { Ending, LiveRun, Run } from '../../model/index.ts'
import { isLive, Problem } from '../../model/index.ts'
import { findSession } from '../see/find-session.ts'
import type { World } from '../world/world.ts'

const NOT_GONE = {
  alive: 'its agent, or its tree, is alive',
  starting: 'it is being started',
  settling: 'its keeper is just writing down how it ended',
  leftovers: 'its agent ended, and what it started lives on',
}

/** A person testifies that what cannot be proven gone is gone. Nothing is signalled; what is proven alive is not overridden. */
export async function resolveGone(world: World, reference: string): Promise<Run> {
  const store = await world.store('writer')
  const { session, run } = await findSession(store, reference, 'near')
  if (run === null || !isLive(run)) throw new Problem('session-not-running', `session ${session.id} is not running; there is nothing to resolve`)
  const seen = await lookAt(run, world)
  const judged = verdict(run, seen)
  if (judged.kind !== 'unknown' && judged.kind !== 'over')
    throw new Problem('session-not-gone', `session ${session.id} is not gone: ${NOT_GONE[judged.kind]}`, {
      hint: `holdfast stop ${session.id} ends it`,
    })
  const sign = judged.kind === 'unknown' ? await signOfLife(world, run) : null
  if (sign !== null) throw new Problem('session-not-gone', `session ${session.id} is not gone: ${sign}`, { hint: 'end it where it runs' })
  const by = `${world.user()}@${world.host}`
  const ending: Ending =
    judged.kind === 'over'
      ? judged.ending
      : {
          state: 'lost',
          exit: null,
          by,
          reason: `${by} said that it is gone; that could not be proven (${judged.why})`,
          evidence: [`unproven: ${judged.why}`, `testimony of ${by} (holdfast resolve --gone)`],
        }
  if (!(await store.claims.recordEnded(run, ending, seen.harnessId, world.clock.now())))
    throw new Problem('session-changed', `session ${session.id} changed while it was looked at; nothing was recorded`, {
      hint: `holdfast status ${session.id}`,
    })
  // Should it live on after all, it is fenced off from here on.
  if (judged.kind === 'unknown') world.fences.retire(run.id, { end: 'stopped', by, reason: ending.reason })
  await release(run, world)
  return (await store.runs.get(run.id)) ?? run
}

/** What can be seen of a run from anywhere on its machine: who is in its cgroup, and who carries its marker. */
async function signOfLife(world: LookPorts, run: LiveRun): Promise<string | null> {
  const { evidence, cgroups } = world
  const cgroup = evidence.cgroup(run.id)
  const inside = cgroup === null ? null : cgroups.view(cgroup)
  if (inside?.kind === 'present' && inside.pids.size > 0) return `somebody is in its cgroup (pid ${[...inside.pids].join(', ')})`
  if (inside?.kind === 'present' && inside.hidden) return 'somebody of another pid namespace is in its cgroup'
  const { members } = run.marker === null ? { members: [] } : await markedAnywhere(run, world)
  return members.length === 0 ? null : `its marker is carried by pid ${members.map(({ row }) => row.pid).join(', ')}`
}
