import { censusOfAll } from '../act/index.ts'
import { relationOf, standingOf } from '../decide/index.ts'
import { agentsAmong, mayBeAgent, registeredAgents } from '../harness/index.ts'
import type { Agent, Candidate, Directory, LiveRun, ProcessRow } from '../model/index.ts'
import { isDead, isHelperMarker, isLive, MS_PER_TICK, Problem, sameProcess } from '../model/index.ts'
import { lookForDirectory, readMounts } from '../observe/index.ts'
import { age, iso } from '../show/index.ts'
import type { Plan } from './prepare.ts'
import type { World } from './world.ts'

/**
 * Agents that Holdfast did not start and that work where this run shall: named and refused, or (--allow-unmanaged) answered, so that it is
 * recorded beside whom it works. Where a run around us holds the directory already, that one was asked.
 */
export async function besideUnmanaged(plan: Plan, delegated: boolean): Promise<readonly Agent[]> {
  const { world, request, directory } = plan
  if (delegated || request.adopt !== undefined) return []
  const found = await unmanagedIn(world, directory)
  const [first] = found
  if (first === undefined || request.allowUnmanaged === true) return found
  const told = found.map((agent) => agentLine(world, agent)).join('; ')
  const isElsewhere = typeof world.processes.marker(first.row.pid) === 'number'
  const ways = [
    isElsewhere ? 'stop it where it was started' : `holdfast adopt ${first.row.pid} takes it in as a session`,
    '--allow-unmanaged to work beside it',
    ...(directory.repository === null ? [] : ['--worktree for a working tree of its own']),
    'or end it yourself',
  ]
  const whose = isElsewhere ? 'which another Holdfast home has' : 'which Holdfast did not start'
  throw new Problem('held', `directory ${directory.path} is in use by ${told}, ${whose}`, {
    hint: ways.join(' · '),
    detail: { unmanaged: found.map((agent) => agentFacts(world, agent)) },
  })
}

async function unmanagedIn(world: World, directory: Directory): Promise<Agent[]> {
  const mounts = readMounts()
  const near = agentsHere(world).filter(({ cwd }) => {
    // One that works in the root directory is at work nowhere: that is where those go who let go of everything.
    const there = cwd === null || cwd === '/' ? null : lookForDirectory(cwd, world.islands, mounts)
    return there !== null && relationOf(directory, standingOf(there)) !== null
  })
  const origins = world.processes.origins()
  const strangers = near.filter(({ row, launchers }) => ![row, ...launchers].some((one) => origins.some((origin) => sameProcess(origin, one))))
  return withoutManaged(world, strangers)
}

/** All agents at work, managed or not. One pass over names and command lines. */
export function agentsHere(world: World): Agent[] {
  const { processes, env } = world
  const { rows } = processes.table({ since: Number.POSITIVE_INFINITY, cookies: false })
  const alive = new Map(rows.filter(({ state }) => !isDead(state)).map((row) => [row.pid, row]))
  const registered = registeredAgents(env, (pid) => alive.has(pid))
  const named = new Set(registered.map(({ process: { pid } }) => pid))
  const candidates = [...alive.values()].flatMap((row): Candidate[] => {
    const argv = processes.arguments(row.pid)
    return named.has(row.pid) || mayBeAgent(row.name, argv) ? [{ row, argv, exe: processes.exe(row.pid), cwd: processes.cwd(row.pid) }] : []
  })
  return agentsAmong(candidates, registered)
}

/** Without those that a live run on record has: by their marker or, where there is none, as its members. */
async function withoutManaged(world: World, agents: readonly Agent[]): Promise<Agent[]> {
  if (agents.length === 0) return []
  const markers = await world.others()
  const unmarked = agents.filter(({ row }) => !isManaged(world.processes.marker(row.pid), markers))
  if (unmarked.length === 0) return []
  const store = await world.store('reader')
  const { views } = await store.snapshot('live', world.policy.sessionsShown)
  const runs = views.flatMap(({ run }): LiveRun[] => (run !== null && isLive(run) ? [run] : []))
  const members = (await censusOfAll(runs, world)).flatMap(([, { members: known }]) => known)
  return unmarked.filter(({ row }) => !members.some((member) => sameProcess(member.row, row)))
}

const isManaged = (marker: number | null | undefined, markers: ReadonlySet<number>): boolean =>
  typeof marker === 'number' && (isHelperMarker(marker) || markers.has(marker))

export function agentLine(world: World, agent: Agent): string {
  const since = sinceOf(world, agent.row)
  return `${agent.harness} (pid ${agent.row.pid}) since ${iso(since)} (${age(world.clock.now() - since)} ago) in ${agent.cwd ?? 'an unknown directory'}`
}

const agentFacts = (world: World, { harness, row, launchers, cwd, nativeId }: Agent): Record<string, unknown> => ({
  harness,
  pid: row.pid,
  launchers: launchers.map(({ pid }) => pid),
  since: iso(sinceOf(world, row)),
  dir: cwd,
  nativeId,
})

const sinceOf = ({ processes, clock }: World, { ticks }: ProcessRow): number => clock.now() - (processes.ticks() - ticks) * MS_PER_TICK
