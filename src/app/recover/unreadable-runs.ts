import type { Problem as Refusal, RunFiles } from '../../model/index.ts'
import { isDead, Problem, sameProcess } from '../../model/index.ts'
import type { UnreadableRun } from '../../show/index.ts'
import type { World } from '../world/world.ts'

type Eyes = Pick<RunFiles, 'evidence' | 'runRecords'> & Pick<World, 'cgroups' | 'processes'>

/** Run directories that no row knows and that cannot be read, as far as other files and the processes themselves tell. Those that are over are left out. */
export const unreadableRuns = (world: Eyes & Pick<World, 'unreadable'>): UnreadableRun[] => judgeUnreadable(world, world.unreadable())

/** The same without a store: then every directory must speak for itself. */
export const unreadableWithoutStore = (world: Eyes): UnreadableRun[] =>
  judgeUnreadable(
    world,
    world.runRecords.list().filter((id) => world.runRecords.read(id) === null),
  )

/** Why one of them keeps everybody from starting anything. `force`: a person overrides what is unknown, never what is alive. */
export function unreadableRefusal(world: Eyes & Pick<World, 'unreadable'>, force: boolean): Refusal | null {
  const found = unreadableRuns(world)
  const one = found.find(({ pid }) => pid !== null) ?? (force ? undefined : found[0])
  if (one === undefined) return null
  return new Problem(
    'run-record-unreadable',
    `where run ${one.run} works is unknown: no row has it, and ${one.path}/run.json cannot be read; ${one.why}`,
    {
      hint: one.pid === null ? `${one.next} · --force to start beside it` : one.next,
      detail: { unreadableRun: one.run, directory: one.path, why: one.why },
    },
  )
}

function judgeUnreadable(world: Eyes, runs: readonly string[]): UnreadableRun[] {
  if (runs.length === 0) return []
  const { runRecords, evidence } = world
  const callers = callersOf(world)
  return runs.flatMap((run): UnreadableRun[] => {
    if (runRecords.isGone(run)) return []
    const pid = pidOf(world, run) ?? callers.get(run) ?? null
    const isOver = evidence.exit(run) !== null || !runRecords.isUnreadable(run)
    if (pid === null && isOver) return []
    const gone = `holdfast resolve ${run} --gone`
    return [
      {
        run,
        path: runRecords.path(run),
        pid,
        why: pid === null ? 'nothing tells whether it is over' : `pid ${pid} of it is alive`,
        next: pid === null ? `if you know that it is over: ${gone}` : `end pid ${pid}, then: ${gone}`,
      },
    ]
  })
}

/** A process that its other files name, and that is alive. Pids of another place mean nothing here, and are then no sign of life. */
function pidOf({ evidence, processes, cgroups }: Eyes, run: string): number | null {
  const named = [evidence.keeper(run), evidence.harness(run), evidence.timer(run), evidence.guard(run), ...evidence.journal(run)].flatMap(
    (id) => id ?? [],
  )
  const alive = named.find((id) => {
    const seen = processes.sample(id.pid)
    return seen.kind === 'seen' && sameProcess(seen.row, id) && !isDead(seen.row.state)
  })
  const cgroup = evidence.cgroup(run)
  const inside = cgroup === null ? null : cgroups.view(cgroup)
  return alive?.pid ?? (inside?.kind === 'present' ? ([...inside.pids][0] ?? null) : null)
}

/** By the run that their environment names. */
function callersOf({ processes }: Eyes): ReadonlyMap<string, number> {
  const { rows } = processes.table({ since: 0, cookies: false })
  return new Map(
    rows.flatMap(({ pid, state }): [string, number][] => {
      const run = isDead(state) ? undefined : processes.environment(pid)['HOLDFAST_RUN']
      return run === undefined ? [] : [[run, pid]]
    }),
  )
}

/** A person testifies that one of them is over. Null: it is none of them. */
export function resolveUnreadable(world: Eyes & Pick<World, 'fences' | 'host' | 'unreadable' | 'user'>, run: string): UnreadableRun | null {
  const one = unreadableRuns(world).find((found) => found.run === run)
  if (one === undefined) return null
  if (one.pid !== null) throw new Problem('session-not-gone', `run ${run} is not gone: ${one.why}`, { hint: one.next })
  const by = `${world.user()}@${world.host}`
  // Should it live on after all, it is fenced off from here on.
  world.fences.retire(run, { end: 'stopped', by, reason: `${by} said that it is gone; that could not be proven (${one.why})` })
  world.runRecords.recordGone(run)
  return one
}
