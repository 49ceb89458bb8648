import { censusOf } from '../../act/index.ts'
import { choosesSession, isHeadless } from '../../decide/index.ts'
import { agentsAmong, argumentsOf, captureNative, registeredAgents, type Seen } from '../../harness/index.ts'
import type { Agent, BindAnswer, Binding, Harness, LiveRun, Member, NativeId, ProcessId, ProcessRow, Run, Store } from '../../model/index.ts'
import { isDead, isLive, sameProcess } from '../../model/index.ts'
import { recordChanged } from '../recover/compare.ts'
import { countFrom, doubt } from '../usage/shared-conversations.ts'
import { placesOf } from '../usage/usage-baseline.ts'
import { recordInPassing } from '../world/best-effort-write.ts'
import { candidateOf } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'
import { type Known, knownOf } from './known-harness.ts'
import { recordMoved } from './write-renamed-ids.ts'

/**
 * Looks which conversation a run's agent carries, where its harness shows it: it may not have been told, or have moved on since. `members`: those
 * of the run, where they were just counted.
 */
export async function learnNative(world: World, store: Store, run: LiveRun, { session, harness }: Known, members?: readonly Member[]): Promise<void> {
  const id = await carriedBy(world, run, harness, members)
  if (id === null || id === session.native || !isThere(world, run, harness, id)) return
  if (await hasLeft(world, store, run, id)) return
  await recordInPassing()(
    async () => (await bind(world, store, run, { harness: harness.name, id }, { how: 'seen', before: session.native })).kind === 'bound',
  )
}

/** Its hook has said that it went on from there: what its harness has written down about it may be older than that, and is no way back. */
async function hasLeft(world: Pick<World, 'agentState' | 'policy'>, store: Store, run: LiveRun, id: string): Promise<boolean> {
  if (!world.agentState.natives(run.id).some((native) => native.id === id)) return false
  const events = await store.events.list({ session: run.session, after: 0, limit: world.policy.eventsShown })
  return events.findLast((event) => event.run === run.id && event.kind === 'bound')?.detail['how'] === 'hook'
}

/** While it looks for an old one, an agent may show an id that it will never use: what it carries lies on disk. */
const isThere = (
  world: Pick<World, 'agentState' | 'env' | 'readDatabase' | 'usageFiles'>,
  run: LiveRun,
  { sessions }: Harness,
  id: string,
): boolean =>
  sessions === null ||
  world.agentState.natives(run.id).some((native) => native.id === id) ||
  sessions.find(placesOf(world, run.id), id, world.readDatabase) !== null

/** Null: nobody can tell yet. */
async function carriedBy(world: World, run: LiveRun, harness: Harness, counted?: readonly Member[]): Promise<string | null> {
  const { evidence, agentState } = world
  const known = (): string | null => agentState.natives(run.id).at(-1)?.id ?? null
  const agentId = evidence.harness(run.id)
  if ((known() !== null && harness.registry === null) || agentId === null) return known()
  // Who looks for its members also learns which session was handed to a shared daemon.
  const members = counted ?? (await censusOf(run, world, false)).members
  const agent = mainAgent(world, members, agentId, placesOf(world, run.id))
  return agent?.nativeId ?? known() ?? (agent === null ? null : captured(world, run, harness, agent, members))
}

/** The agent that the run is about: its own process, or the one that this only launched. What its tools start are others. */
function mainAgent(
  world: Pick<World, 'ownHarnesses' | 'processes'>,
  members: readonly Member[],
  harness: ProcessId,
  env: World['env'],
): Agent | null {
  const { processes } = world
  const rows = members.map(({ row }) => row).filter(({ state }) => !isDead(state))
  const registered = registeredAgents(env, (pid) => rows.some((row) => row.pid === pid))
  const candidates = rows.map((row) => candidateOf(processes, row))
  return (
    agentsAmong(candidates, registered, world.ownHarnesses()).find(({ row, launchers }) =>
      [row, ...launchers].some((one) => sameProcess(one, harness)),
    ) ?? null
  )
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
    begun: begunBy(world, run, harness),
  })
  if (id === null || !isThere(world, run, harness, id)) return false
  return (await bind(world, store, run, { harness: harness.name, id }, { how: 'output' })).kind === 'bound'
}

function captured(
  world: Pick<World, 'env' | 'ownHarnesses' | 'processes' | 'readDatabase' | 'runLogs' | 'usageFiles'>,
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
    begun: begunBy(world, run, harness),
    tools: () => (hasOtherAgents(world, tools, harness) ? null : tools.map(({ pid }) => world.processes.environment(pid))),
  })
}

/**
 * Asks a harness's own disk; only of a run that begins a session at once, since an idle one has none while somebody else may begin one there. When
 * an adopted one began is not on record.
 */
function begunBy(world: Pick<World, 'env' | 'readDatabase' | 'usageFiles'>, run: LiveRun, harness: Harness): Seen['begun'] {
  const args = argumentsOf(run.argv, harness)
  if (run.adopted || !isHeadless(harness, args) || choosesSession(harness, args)) return () => []
  return (find) => find(placesOf(world, run.id), { dir: run.dir, since: run.startedAt }, world.readDatabase)
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

/**
 * The run's agent carries this conversation now. If another live session has it, the newcomer is fenced off, and both are told: one of them
 * has to go, and which is for a person to say.
 */
export async function bind(world: World, store: Store, run: Run, native: NativeId, binding: Binding): Promise<BindAnswer> {
  const before = world.agentState.natives(run.id).at(-1)
  const answer = await store.conversations.bind(run, native, binding, world.clock.now())
  if (answer.kind === 'bound') {
    await recordMoved(world, store, answer.moved ?? [])
    const harness = world.harnesses().find(({ name }) => name === native.harness)
    if (before?.id !== native.id || before.harness !== native.harness) {
      if (harness !== undefined) await countFrom(world, store, run, { harness, native, before: before ?? null, isTold: binding.how === 'hook' })
      world.agentState.recordNative(run.id, native)
      await recordChanged(store, world.runRecords)
    }
  }
  if (answer.kind === 'taken') fenceOff(world, run, native, answer.by)
  return answer
}

function fenceOff(
  world: Pick<World, 'agentInbox' | 'agentState' | 'evidence' | 'fences' | 'usageFiles'>,
  run: Run,
  { harness, id }: NativeId,
  owner: Run,
): void {
  // One that is over calls no tools.
  if (!isLive(run) || world.evidence.exit(run.id) !== null) return
  // Its tool calls now name that one: they are this run's all the same.
  world.agentState.recordRefused(run.id, { harness, id })
  doubt(world, owner, { harness, id }, run)
  const reason = `it went to the ${harness} session ${id}, which session ${owner.session} has: both would write to the same transcript; end this agent, and resume its own session`
  if (world.fences.intent(run.id) !== null) return
  world.fences.retire(run.id, { end: 'superseded', by: 'holdfast', reason })
  world.agentInbox.leave(owner.id, {
    topic: `conflict-${run.id}`,
    text: `session ${run.session} has just gone to your conversation (${id}); it was fenced off. End it: holdfast stop ${run.session}`,
  })
}
