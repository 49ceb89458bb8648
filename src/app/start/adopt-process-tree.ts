import { censusOf, lookAt, remember } from '../../act/index.ts'
import { verdict } from '../../decide/index.ts'
import type { Agent, LiveRun, Member, ProcessId, RunBase } from '../../model/index.ts'
import { Problem, sameProcess } from '../../model/index.ts'
import { beginUsage, recordPlaces } from '../usage/usage-baseline.ts'
import type { World } from '../world/world.ts'
import type { Plan } from './plan.ts'
import type { Begun } from './started.ts'

/** So often new processes of it are looked for: what is born from a marked one is marked by itself. */
const ROUNDS = 5

/** The run is on record; now what runs already is made its tree: written down by identity, and marked, so that all it starts is known. */
export async function takeIn(plan: Plan, run: RunBase, agent: Agent): Promise<Begun> {
  const { world, store } = plan
  const live: LiveRun = { ...run, state: 'running', keeper: null }
  world.runRecords.create({ ...run, keeper: null })
  world.evidence.recordHarness(run.id, run.launcher)
  const { harness, native } = plan.spoken
  if (harness !== null) {
    recordPlaces(world, run.id, world.processes.environment(agent.row.pid))
    if (native !== null) {
      beginUsage(world, run.id, harness, native)
      world.agentState.recordNative(run.id, { harness: harness.name, id: native })
    }
  }
  const unmarked = await markAll(plan, live, agent)
  // What became of it meanwhile is judged like anything else: its own end is not that of its tree.
  const seen = await lookAt(live, world)
  const judged = verdict(live, seen)
  if (judged.kind === 'alive')
    return {
      kind: 'running',
      run,
      harness: run.launcher,
      retired: [],
      notes: unmarked.map((pid) => `pid ${pid} could not be marked: it is known by its identity alone`),
    }
  if (judged.kind === 'over') await store.claims.recordEnded(live, judged.ending, seen.harnessId, world.clock.now())
  const left = { hint: `what it left is held as session ${run.session}; holdfast stop ${run.session} ends it` }
  throw new Problem('process-missing', `pid ${run.launcher.pid} ended while it was adopted`, judged.kind === 'over' ? {} : left)
}

/** Answers whom it could not mark. */
async function markAll({ world }: Plan, run: LiveRun, agent: Agent): Promise<number[]> {
  const marked: ProcessId[] = []
  const failed: number[] = []
  let known: readonly Member[] = agent.launchers.map((row) => ({ row, proof: 'journal' }))
  for (let round = 0; round < ROUNDS; round++) {
    remember(run, known, world)
    const { members } = await censusOf(run, world, false, agent.launchers)
    const fresh = members.filter(({ row }) => !marked.some((one) => sameProcess(one, row)))
    if (fresh.length === 0) break
    for (const { row } of fresh) if (run.marker !== null && !mark(world, row, run.marker)) failed.push(row.pid)
    marked.push(...fresh.map(({ row }) => row))
    known = members
  }
  return failed
}

/** A pid may get a new tenant at any time: a stranger that was marked by that gets back what it had, at once. */
function mark({ processes, keepers }: Pick<World, 'keepers' | 'processes'>, { pid, ticks }: ProcessId, marker: number): boolean {
  const before = processes.marker(pid)
  if (before !== null && before !== marker) return false
  const done = keepers.mark(pid, marker)
  const now = processes.sample(pid)
  if (now.kind === 'seen' && now.row.ticks !== ticks) keepers.mark(pid, null)
  return done
}
