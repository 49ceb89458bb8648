import { censusOf, harnessOf, remember } from '../act/index.ts'
import { judge } from '../decide/index.ts'
import type { Agent, Ending, LiveRun, Member, ProcessId, RunBase } from '../model/index.ts'
import { Problem, sameProcess } from '../model/index.ts'
import type { Plan } from './prepare.ts'
import type { Started } from './start.ts'

/** So often new processes of it are looked for: what is born from a marked one is marked by itself. */
const ROUNDS = 5

/** The run is on record; now what runs already is made its tree: written down by identity, and marked, so that all it starts is known. */
export async function takeIn(plan: Plan, run: RunBase, agent: Agent): Promise<Started> {
  const { world, store } = plan
  const { files, processes } = world
  const live: LiveRun = { ...run, state: 'running', keeper: null }
  files.create({ ...run, keeper: null })
  files.recordHarness(run.id, run.launcher)
  const marked: ProcessId[] = []
  let known: readonly Member[] = agent.launchers.map((row) => ({ row, proof: 'journal' }))
  for (let round = 0; round < ROUNDS; round++) {
    remember(live, known, world)
    const { members } = await censusOf(live, world, false, agent.launchers)
    const fresh = members.filter(({ row }) => !marked.some((one) => sameProcess(one, row)))
    if (fresh.length === 0) break
    for (const { row } of fresh) if (run.marker !== null) mark(plan, row, run.marker)
    marked.push(...fresh.map(({ row }) => row))
    known = members
  }
  const harness = harnessOf(live, files) ?? run.launcher
  if (judge(processes, run.place, harness).kind === 'alive') return { kind: 'running', run, harness, retired: [], notes: [] }
  const ending: Ending = {
    state: 'lost',
    exit: null,
    reason: 'it ended while it was adopted',
    evidence: ['it was gone when it was looked at again'],
    by: 'adopt',
  }
  await store.recordEnded(live, ending, harness, world.clock.now())
  throw new Problem('noSuchSession', `pid ${harness.pid} ended while it was adopted`)
}

/** A pid may get a new tenant at any time: a stranger that was marked by that is unmarked at once. */
function mark({ world }: Plan, { pid, ticks }: ProcessId, marker: number): void {
  world.keepers.mark(pid, marker)
  const now = world.processes.sample(pid)
  if (now.kind === 'seen' && now.row.ticks !== ticks) world.keepers.mark(pid, null)
}
