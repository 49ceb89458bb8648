import { censusOfAll, type LookPorts } from '../../act/index.ts'
import { agentsAmong, mayBeAgent, registeredAgents } from '../../harness/index.ts'
import type { Agent, Candidate, ProcessId, ProcessRow } from '../../model/index.ts'
import { isDead, liveRunsOf, MS_PER_TICK, sameProcess } from '../../model/index.ts'
import { age, iso } from '../../show/index.ts'
import { recordOfLock } from '../lock/judge-locks.ts'
import { forgottenLocks } from '../lock/trees-without-record.ts'
import { asLive } from '../recover/recover.ts'
import { candidateOf, everybody } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'

/** All agents at work, managed or not. One pass over names and command lines. */
export function agentsHere(world: World, rows = everybody(world)): Agent[] {
  const { processes, env } = world
  const own = world.ownHarnesses()
  const alive = new Map(rows.filter(({ state }) => !isDead(state)).map((row) => [row.pid, row]))
  const registered = registeredAgents(env, (pid) => alive.has(pid))
  const named = new Set(registered.map(({ process: { pid } }) => pid))
  const candidates = [...alive.values()].flatMap((row): Candidate[] => {
    const argv = processes.arguments(row.pid)
    return named.has(row.pid) || mayBeAgent(row.name, argv, own) ? [candidateOf(processes, row)] : []
  })
  return agentsAmong(candidates, registered, own)
}

/** Of these processes, by pid: the sessions that they belong to, as members of a live run or of a tree that lives although its run is over. */
export async function ownersOf(world: LookPorts & Pick<World, 'policy' | 'store'>, processes: readonly ProcessId[]): Promise<Map<number, string>> {
  const store = await world.store('reader')
  const { views } = await store.sessions.snapshot('live', world.policy.sessionsShown)
  const forgotten = (await forgottenLocks(store, null)).map((lock) => asLive(recordOfLock(lock, lock.holder)))
  const counted = await censusOfAll([...liveRunsOf(views), ...forgotten], world)
  return new Map(
    counted.flatMap(([run, { members }]) =>
      members.filter(({ row }) => processes.some((one) => sameProcess(one, row))).map(({ row }) => [row.pid, run.session] as const),
    ),
  )
}

/** Whose marker an unmanaged agent carries, in words; null: nobody's. */
export async function markedBy(world: Pick<World, 'processes' | 'store'>, { row }: Agent): Promise<string | null> {
  const marker = world.processes.marker(row.pid)
  if (typeof marker !== 'number') return null
  const run = await (await world.store('reader')).runs.withMarker(marker)
  return run === null ? 'a run of another Holdfast home' : `a run of session ${run.session}, but is not of it`
}

export function agentLine(world: Pick<World, 'clock' | 'processes'>, agent: Agent): string {
  const since = sinceOf(world, agent.row)
  return `${agent.harness} (pid ${agent.row.pid}) since ${iso(since)} (${age(world.clock.now() - since)} ago) in ${agent.cwd ?? 'an unknown directory'}`
}

export const agentFacts = (
  world: Pick<World, 'clock' | 'processes'>,
  { harness, row, launchers, cwd, nativeId }: Agent,
): Record<string, unknown> => ({
  harness,
  pid: row.pid,
  launchers: launchers.map(({ pid }) => pid),
  since: iso(sinceOf(world, row)),
  dir: cwd,
  nativeId,
})

export const sinceOf = ({ processes, clock }: Pick<World, 'clock' | 'processes'>, { ticks }: ProcessRow): number =>
  clock.now() - (processes.ticks() - ticks) * MS_PER_TICK
