import { type EndPorts, type EndRunPorts, harnessOf, type Lookable } from '../../act/index.ts'
import { agentsAmong, HARNESSES, mayBeAgent, readUsageWhole, registeredAgents, usageSince } from '../../harness/index.ts'
import type { Agent, Ended, Member, Run, Store, Tokens } from '../../model/index.ts'
import { isLive, MS_PER_TICK, Problem, sameProcess } from '../../model/index.ts'
import { isOlder, placesOf } from '../usage/usage-baseline.ts'
import { newCookie, newRunId } from '../world/ids.ts'
import { candidateOf } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'

type Senses = Pick<World, 'processes' | 'directories' | 'evidence' | 'usageFiles' | 'harnesses' | 'ownHarnesses' | 'readDatabase' | 'clock' | 'env'>

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

/** They ended with their owner: each becomes a task of it that is over, with what it had burned. */
export function recordNestedAgents(world: Senses, store: Store): EndRunPorts['recordNestedAgents'] {
  return async (run, agents) => {
    for (const agent of agents) {
      const { harness, nativeId: id } = agent
      try {
        await store.claims.recordNested(taskOf(world, run, agent), harness, id)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        return
      }
    }
  }
}

function taskOf(world: Senses, run: Run, agent: Agent): Ended {
  const { processes, clock } = world
  const { harness, row, argv } = agent
  const startedAt = clock.now() - (processes.ticks() - row.ticks) * MS_PER_TICK
  const why = isLive(run) ? 'its owner ended' : run.reason
  return {
    ...run,
    id: newRunId(),
    session: `${run.session.slice(0, 90)}.${harness}-${row.pid}-${row.ticks % 1000}`,
    epoch: 1,
    launcher: { pid: row.pid, ticks: row.ticks },
    marker: null,
    cookie: newCookie(),
    argv: argv.length > 0 ? argv : [row.name],
    dir: agent.cwd ?? run.dir,
    until: 'harness',
    deadlineAt: null,
    budget: null,
    parent: run.id,
    independent: false,
    task: 'cancel',
    adopted: true,
    startedAt,
    state: 'superseded',
    keeper: null,
    harness: { pid: row.pid, ticks: row.ticks },
    endedAt: clock.now(),
    exit: null,
    reason: `it was started inside session ${run.session} and ended with it: ${why}`,
    evidence: [`${harness} (pid ${row.pid}) was a member of run ${run.id}`, 'seen gone with its tree'],
    by: isLive(run) ? 'holdfast' : run.by,
    usage: { cpuMs: 0, whole: false, tokens: burned(world, run, agent) },
  }
}

/** What it has burned since it began; null: nobody says, or its conversation is older than itself and has only totals. */
function burned(world: Senses, run: Run, agent: Agent): Tokens | null {
  const id = agent.nativeId ?? agent.named
  const harness = HARNESSES.find(({ name }) => name === agent.harness)
  const rule = harness?.usage ?? null
  if (id === null || harness === undefined || rule === null) return null
  const at = { env: placesOf(world, run.id), id }
  const startedAt = world.clock.now() - (world.processes.ticks() - agent.row.ticks) * MS_PER_TICK
  if (rule.kind !== 'lines' && isOlder(world, harness, rule, at, { argv: agent.argv, startedAt })) return null
  return readUsageWhole(rule, at, usageSince(rule, startedAt), world.readDatabase)?.tokens ?? null
}
