import { censusOfAll } from '../act/index.ts'
import { relationOf, standingOf } from '../decide/index.ts'
import { agentsAmong, mayBeAgent, registeredAgents } from '../harness/index.ts'
import type { Agent, Candidate, Directory, ProcessId, ProcessRow } from '../model/index.ts'
import { isDead, liveRunsOf, MS_PER_TICK, Problem, sameProcess } from '../model/index.ts'
import { lookForDirectory, readMounts } from '../observe/index.ts'
import { age, iso } from '../show/index.ts'
import { forgottenLocks } from './forgotten.ts'
import { recordOfLock } from './locks.ts'
import type { Plan } from './prepare.ts'
import { asLive } from './recover.ts'
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
  const marked = await markedBy(world, first)
  const ways = [
    ...(marked === null ? [`holdfast adopt ${first.row.pid} takes it in as a session`] : []),
    '--allow-unmanaged to work beside it',
    ...(directory.repository === null ? [] : ['--worktree for a working tree of its own']),
    'or end it yourself',
  ]
  const whose = marked === null ? 'which Holdfast did not start' : `which has the marker of ${marked}`
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
export function agentsHere(world: World, rows = everybody(world)): Agent[] {
  const { processes, env } = world
  const own = world.ownHarnesses()
  const alive = new Map(rows.filter(({ state }) => !isDead(state)).map((row) => [row.pid, row]))
  const registered = registeredAgents(env, (pid) => alive.has(pid))
  const named = new Set(registered.map(({ process: { pid } }) => pid))
  const candidates = [...alive.values()].flatMap((row): Candidate[] => {
    const argv = processes.arguments(row.pid)
    return named.has(row.pid) || mayBeAgent(row.name, argv, own) ? [{ row, argv, exe: processes.exe(row.pid), cwd: processes.cwd(row.pid) }] : []
  })
  return agentsAmong(candidates, registered, own)
}

/** One pass over all processes, for who they are and not for whose. */
export const everybody = ({ processes }: World): readonly ProcessRow[] => processes.table({ since: Number.POSITIVE_INFINITY, cookies: false }).rows

/**
 * Without those that a live run on record has, as its members. A marker alone says little: what a harness's shared daemon starts for others
 * carries that of the run in which the daemon was born.
 */
async function withoutManaged(world: World, agents: readonly Agent[]): Promise<Agent[]> {
  if (agents.length === 0) return []
  const owners = await ownersOf(
    world,
    agents.map(({ row }) => row),
  )
  return agents.filter(({ row }) => !owners.has(row.pid))
}

/** Of these processes, by pid: the sessions that they belong to, as members of a live run or of a tree that lives although its run is over. */
export async function ownersOf(world: World, processes: readonly ProcessId[]): Promise<Map<number, string>> {
  const store = await world.store('reader')
  const { views } = await store.snapshot('live', world.policy.sessionsShown)
  const forgotten = (await forgottenLocks(store, null)).map((lock) => asLive(recordOfLock(lock, lock.holder)))
  const counted = await censusOfAll([...liveRunsOf(views), ...forgotten], world)
  return new Map(
    counted.flatMap(([run, { members }]) =>
      members.filter(({ row }) => processes.some((one) => sameProcess(one, row))).map(({ row }) => [row.pid, run.session] as const),
    ),
  )
}

/** Whose marker an unmanaged agent carries, in words; null: nobody's. */
export async function markedBy(world: World, { row }: Agent): Promise<string | null> {
  const marker = world.processes.marker(row.pid)
  if (typeof marker !== 'number') return null
  const run = await (await world.store('reader')).runWithMarker(marker)
  return run === null ? 'a run of another Holdfast home' : `a run of session ${run.session}, but is not of it`
}

export function agentLine(world: World, agent: Agent): string {
  const since = sinceOf(world, agent.row)
  return `${agent.harness} (pid ${agent.row.pid}) since ${iso(since)} (${age(world.clock.now() - since)} ago) in ${agent.cwd ?? 'an unknown directory'}`
}

export const agentFacts = (world: World, { harness, row, launchers, cwd, nativeId }: Agent): Record<string, unknown> => ({
  harness,
  pid: row.pid,
  launchers: launchers.map(({ pid }) => pid),
  since: iso(sinceOf(world, row)),
  dir: cwd,
  nativeId,
})

export const sinceOf = ({ processes, clock }: World, { ticks }: ProcessRow): number => clock.now() - (processes.ticks() - ticks) * MS_PER_TICK
