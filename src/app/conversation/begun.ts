import { choosesSession, isHeadless } from '../../decide/index.ts'
import { agentsAmong, argumentsOf, mayBeAgent, type Seen } from '../../harness/index.ts'
import type { Agent, BegunSince, Harness, LiveRun, ProcessId } from '../../model/index.ts'
import { isDead, MS_PER_TICK, sameProcess } from '../../model/index.ts'
import { placesOf } from '../usage/usage-baseline.ts'
import { candidateOf, everybody } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'

export type BegunPorts = Pick<World, 'clock' | 'directories' | 'env' | 'ownHarnesses' | 'processes' | 'readDatabase' | 'usageFiles'>

/**
 * Asks a harness's own disk which sessions were begun where the run works, since its agent began. A run that was given its prompt begins one at
 * once. A terminal interface begins one with its first prompt: there that counts only while no other agent of the kind works in its directory.
 * `agent`: null, it is gone. `own`: processes of the run.
 */
export function begunBy(world: BegunPorts, run: LiveRun, harness: Harness, agent: Agent | null, own: readonly ProcessId[] = []): Seen['begun'] {
  if (choosesSession(harness, argumentsOf(run.argv, harness)) || (run.adopted && agent === null)) return () => []
  return (find) => (beginsAtOnce(run, harness) || isAlone(world, run, harness, own) ? sessionsBegun(world, run, find, agent) : [])
}

/** Those that were begun where it works since it began, whoever began them. */
export function sessionsBegun(world: BegunPorts, run: LiveRun, find: BegunSince, agent: Agent | null): readonly string[] {
  const { clock, processes } = world
  // When an adopted one began is not on record.
  const since = run.adopted && agent !== null ? clock.now() - (processes.ticks() - agent.row.ticks) * MS_PER_TICK : run.startedAt
  return find(placesOf(world, run.id), { dir: run.dir, since }, world.readDatabase)
}

export const beginsAtOnce = (run: LiveRun, harness: Harness): boolean => !run.adopted && isHeadless(harness, argumentsOf(run.argv, harness))

/** Does nobody else of its kind work there? */
function isAlone({ directories, ownHarnesses, processes }: BegunPorts, run: LiveRun, { name }: Harness, own: readonly ProcessId[]): boolean {
  const key = directories.keyAt(run.dir)
  const candidates = everybody({ processes })
    .filter((row) => !isDead(row.state) && !own.some((one) => sameProcess(one, row)) && mayBeAgent(row.name, [], ownHarnesses()))
    .map((row) => candidateOf(processes, row))
  return !agentsAmong(candidates, [], ownHarnesses()).some(
    (agent) => agent.harness === name && (agent.cwd === null || agent.cwd === run.dir || directories.keyAt(agent.cwd) === key),
  )
}
