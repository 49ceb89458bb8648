import { censusOf, type LookPorts } from '../../act/index.ts'
import { agentsAmong, mayBeAgent, registeredAgents } from '../../harness/index.ts'
import type { Agent, Environment, LiveRun, ProcessId, ProcessRow } from '../../model/index.ts'
import { sameProcess } from '../../model/index.ts'
import { isNoted } from '../usage/nested-notes.ts'
import { placesIn, placesOf } from '../usage/usage-baseline.ts'
import { candidateOf } from '../world/process-candidate.ts'
import { isOfRun, MAX_ROWS, rowsNear } from '../world/rows-of-run.ts'
import type { World } from '../world/world.ts'

/** `main`: the agent that the run is about; null: none is at work. `inner`: those that it, or a script, started besides. */
export type RunAgents = { readonly main: Agent | null; readonly inner: readonly Agent[] }

type Senses = Pick<World, 'cgroups' | 'env' | 'evidence' | 'ownHarnesses' | 'processes' | 'usageFiles'>

/**
 * The agents at work in a run, each with what it shows of itself. Wrappers and scripts are passed over: then the eldest agent that no other one
 * started is the main one. One that was seen inside stays inside, also when it is the only one left. `members`: those of the run, where they were
 * just counted; left out: the cheap ones are looked at.
 */
export function agentsOfRun(world: Senses, run: LiveRun, command: ProcessId, members?: readonly ProcessRow[]): RunAgents {
  const rows = members ?? rowsNear(world, run.id, command)
  const agents = agentsIn(world, run, rows, command)
  const isCommand = ({ row, launchers }: Agent): boolean => [row, ...launchers].some((one) => sameProcess(one, command))
  const main =
    agents.find(isCommand) ??
    agents.filter((agent) => !isBelow(agent, agents, rows) && !isNoted(world, run.id, agent)).toSorted((a, b) => a.row.ticks - b.row.ticks)[0] ??
    null
  return { main, inner: agents.filter((agent) => agent !== main) }
}

/** Is it proven to be of the run? What a shared daemon does for others may be in its cgroup, and below its command. */
export async function isItsOwn(world: LookPorts, run: LiveRun, { row, launchers }: Agent, command: ProcessId): Promise<boolean> {
  if ([row, ...launchers].some((one) => sameProcess(one, command))) return true
  return (await censusOf(run, world, false)).members.some((member) => sameProcess(member.row, row))
}

function agentsIn(world: Senses, run: LiveRun, rows: readonly ProcessRow[], command: ProcessId): Agent[] {
  const { processes } = world
  const own = world.ownHarnesses()
  const candidates = rows
    .filter((row) => mayBeAgent(row.name, sameProcess(row, command) ? processes.arguments(row.pid) : [], own) && isOfRun(world, run, row))
    .map((row) => candidateOf(processes, row))
  if (candidates.length === 0) return []
  // Each harness keeps its things where the environment of its own process says. Many have the same.
  const places = new Map<string, { env: Environment; pids: Set<number> }>()
  for (const { row } of candidates) {
    const env = { ...placesOf(world, run.id), ...placesIn(processes.environment(row.pid)) }
    const key = JSON.stringify(Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const known = places.get(key) ?? { env, pids: new Set() }
    known.pids.add(row.pid)
    places.set(key, known)
  }
  const registered = [...places.values()].flatMap(({ env, pids }) => registeredAgents(env, (pid) => pids.has(pid)))
  return agentsAmong(candidates, registered, own)
}

/** Did another one of these start it? */
function isBelow({ row }: Agent, agents: readonly Agent[], rows: readonly ProcessRow[]): boolean {
  const byPid = new Map(rows.map((one) => [one.pid, one]))
  for (let at = byPid.get(row.parent), steps = 0; at !== undefined && steps < MAX_ROWS; at = byPid.get(at.parent), steps++) {
    const parent = at
    if (agents.some((agent) => [agent.row, ...agent.launchers].some((one) => sameProcess(one, parent)))) return true
  }
  return false
}
