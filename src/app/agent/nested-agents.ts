import { type EndPorts, type EndRunPorts, harnessOf, type Lookable } from '../../act/index.ts'
import { agentsAmong, HARNESSES, mayBeAgent, registeredAgents } from '../../harness/index.ts'
import type { Member, Store } from '../../model/index.ts'
import { Problem, sameProcess } from '../../model/index.ts'
import { recordEndedNested } from '../conversation/nested.ts'
import { beginNested, nativesOfNested } from '../usage/count-nested.ts'
import { noteNested } from '../usage/nested-notes.ts'
import { placesOf } from '../usage/usage-baseline.ts'
import { candidateOf } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'

type Senses = Pick<
  World,
  | 'agentState'
  | 'clock'
  | 'directories'
  | 'env'
  | 'evidence'
  | 'harnesses'
  | 'ownHarnesses'
  | 'processes'
  | 'readDatabase'
  | 'runRecords'
  | 'usageFiles'
>

/** Agents among a run's members that are not the one it is about. Who is none by its name costs no look at its command line. */
export function nestedAgents(world: Senses): EndPorts['nestedAgents'] {
  return (run: Lookable, members: readonly Member[]) => {
    const { processes, evidence } = world
    const main = harnessOf(run, evidence)
    const rows = members.map(({ row }) => row)
    if (!rows.some((row) => mayBeAgent(row.name, [], world.ownHarnesses()) && (main === null || !sameProcess(row, main)))) return []
    const registered = registeredAgents(placesOf(world, run.id), (pid) => rows.some((row) => row.pid === pid))
    const candidates = rows.map((row) => candidateOf(processes, row))
    return agentsAmong(candidates, registered, world.ownHarnesses()).filter(
      ({ row, launchers }) => main === null || ![row, ...launchers].some((one) => sameProcess(one, main)),
    )
  }
}

/** They ended with their owner, or before it: each becomes a task of it that is over, with what it had burned. */
export function recordNestedAgents(world: Senses, store: Store): EndRunPorts['recordNestedAgents'] {
  return async (run, agents) => {
    try {
      for (const agent of agents) {
        const nested = noteNested(world, run, agent)
        const harness = HARNESSES.find(({ name }) => name === agent.harness)
        const id = agent.nativeId ?? (nested === null || nativesOfNested(world, run.id, nested).length > 0 ? null : agent.named)
        if (nested !== null && harness !== undefined && id !== null)
          await beginNested(world, store, run, nested, harness, { harness: harness.name, id })
      }
      await recordEndedNested(world, store, run)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
    }
  }
}
