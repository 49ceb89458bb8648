import { censusOf } from '../../act/index.ts'
import { agentsAmong, captureNative } from '../../harness/index.ts'
import type { Agent, Harness, LiveRun, Member, NativeId, ProcessRow, Session, Store } from '../../model/index.ts'
import { isDead, sameProcess } from '../../model/index.ts'
import { recordInPassing } from '../world/best-effort-write.ts'
import { candidateOf } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'
import { agentsOfRun } from './agents-of-run.ts'
import { type BegunPorts, begunBy } from './begun.ts'
import { bind, isFencedFrom, isOnDisk } from './bind.ts'
import { knownOf } from './known-harness.ts'
import { hasLeft } from './learn.ts'
import { noteAgents } from './nested.ts'

/**
 * Looks closely which conversation a run's agent carries: also by what it tells its tools, and by its output. `members`: those of the run, where
 * they were just counted.
 */
export async function learnNative(world: World, store: Store, run: LiveRun, session: Session, members?: readonly Member[]): Promise<void> {
  const native = await carriedBy(world, store, run, members)
  if (native === null || (native.id === session.native && native.harness === session.harness) || isFencedFrom(world, run, native)) return
  const harness = world.harnesses().find(({ name }) => name === native.harness)
  if (harness === undefined || !isOnDisk(world, run, harness, native.id) || (await hasLeft(world, store, run, native.id))) return
  await recordInPassing()(async () => (await bind(world, store, run, native, { how: 'seen', before: session.native })).kind === 'bound')
}

/** Null: nobody can tell yet. */
async function carriedBy(world: World, store: Store, run: LiveRun, counted?: readonly Member[]): Promise<NativeId | null> {
  const { evidence, agentState } = world
  const known = (): NativeId | null => agentState.natives(run.id).at(-1) ?? null
  const command = evidence.harness(run.id)
  if (command === null) return known()
  // Who looks for its members also learns which session was handed to a shared daemon.
  const members = counted ?? (await censusOf(run, world, false)).members
  const rows = members.map(({ row }) => row).filter(({ state }) => !isDead(state))
  const { main, inner } = agentsOfRun(world, run, command, rows)
  if (inner.length > 0) await noteAgents(world, store, run, inner, members)
  const shown = main === null ? null : main.nativeId
  if (main === null || (shown === null && known() !== null)) return known()
  const harness = world.harnesses().find(({ name }) => name === main.harness)
  const id = shown ?? main.named ?? (harness === undefined ? null : captured(world, run, harness, main, members))
  return id === null ? null : { harness: main.harness, id }
}

/** The agent is gone: then only what it has written can still tell. A short one may be over before anybody could look at it. */
export async function learnAtEnd(world: World, store: Store, run: LiveRun): Promise<boolean> {
  if (world.agentState.natives(run.id).length > 0) return true
  const known = await knownOf(world, store, run)
  if (known === null) return false
  const { harness } = known
  const id = captureNative(harness, {
    agent: null,
    output: () => (run.detached ? headOfLog(world, run.id) : null),
    tools: () => null,
    begun: begunBy(world, run, harness, null),
  })
  if (id === null || !isOnDisk(world, run, harness, id)) return false
  return (await bind(world, store, run, { harness: harness.name, id }, { how: 'output' })).kind === 'bound'
}

function captured(
  world: BegunPorts & Pick<World, 'runLogs'>,
  run: LiveRun,
  harness: Harness,
  agent: Agent,
  members: readonly Member[],
): string | null {
  const rows = members.map(({ row }) => row)
  const tools = rows.filter((row) => !sameProcess(row, agent.row) && !agent.launchers.some((one) => sameProcess(one, row)))
  return captureNative(harness, {
    agent: agent.row.pid,
    output: () => (run.detached ? headOfLog(world, run.id) : null),
    begun: begunBy(world, run, harness, agent, rows),
    tools: () => (hasOtherAgents(world, tools, harness) ? null : tools.map(({ pid }) => world.processes.environment(pid))),
  })
}

/** What an agent that was started inside tells its own tools is not about the one around it. */
function hasOtherAgents(world: Pick<World, 'ownHarnesses' | 'processes'>, rows: readonly ProcessRow[], { name }: Harness): boolean {
  const { processes } = world
  const candidates = rows.map((row) => candidateOf(processes, row))
  return agentsAmong(candidates, [], world.ownHarnesses()).some(({ harness }) => harness === name)
}

const HEAD_BYTES = 256 * 1024

function headOfLog(world: Pick<World, 'runLogs'>, run: string): string {
  const chunks: Uint8Array[] = []
  let size = 0
  for (const chunk of world.runLogs.read(run, 'now', 0)) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= HEAD_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
