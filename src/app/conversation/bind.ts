import { harnessOf, isThere as livesThere, lookAt } from '../../act/index.ts'
import { verdict } from '../../decide/index.ts'
import type { BindAnswer, Binding, Harness, LiveRun, NativeId, Run, Store } from '../../model/index.ts'
import { isLive } from '../../model/index.ts'
import { recordChanged } from '../recover/compare.ts'
import { countFrom, doubt } from '../usage/shared-conversations.ts'
import { placesOf } from '../usage/usage-baseline.ts'
import type { World } from '../world/world.ts'
import { agentsOfRun, isItsOwn } from './agents-of-run.ts'
import { recordMoved } from './write-renamed-ids.ts'

/**
 * The run's agent carries this conversation now. If another live session has it, the newcomer is fenced off, and both are told: one of them
 * has to go, and which is for a person to say. `met`: the runs whose move waits for this one.
 */
export async function bind(
  world: World,
  store: Store,
  run: Run,
  native: NativeId,
  binding: Binding,
  met: readonly string[] = [],
): Promise<BindAnswer> {
  const before = world.agentState.natives(run.id).at(-1)
  // What was on record before has then changed by our own hand.
  const left = await ownerThatLeft(world, store, run, native, met)
  const answer = await store.conversations.bind(run, native, left === null ? binding : { how: binding.how, left }, world.clock.now())
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

/** The record may be older than the truth: its owner on record may have gone on to another conversation, or be over. Null: it has it, or nobody does. */
async function ownerThatLeft(world: World, store: Store, { id, session }: Run, native: NativeId, met: readonly string[]): Promise<string | null> {
  const owner = (await store.conversations.owner(native))?.run ?? null
  if (owner === null || owner.id === id || owner.session === session || !isLive(owner)) return null
  const now = await shownBy(world, owner)
  if (now !== null && (now.harness !== native.harness || now.id !== native.id)) {
    if (!met.includes(owner.id)) await bind(world, store, owner, now, { how: 'seen', before: native.id }, [...met, id])
    return owner.id
  }
  if (now !== null) return null
  const { kind } = verdict(owner, await lookAt(owner, world))
  return kind === 'over' || kind === 'leftovers' || kind === 'settling' ? owner.id : null
}

/** The conversation that the agent of a run proves to carry now; null: it proves none. */
async function shownBy(world: World, run: LiveRun): Promise<NativeId | null> {
  const command = harnessOf(run, world.evidence)
  if (command === null || !livesThere(command, world.processes)) return null
  const { main } = agentsOfRun(world, run, command)
  const harness = main === null ? undefined : world.harnesses().find(({ name }) => name === main.harness)
  if (main === null || main.nativeId === null || harness === undefined || !isOnDisk(world, run, harness, main.nativeId)) return null
  return (await isItsOwn(world, run, main, command)) ? { harness: harness.name, id: main.nativeId } : null
}

/** While it looks for an old one, an agent may show an id that it will never use: what it carries lies on disk. */
export const isOnDisk = (
  world: Pick<World, 'agentState' | 'env' | 'readDatabase' | 'usageFiles'>,
  run: Run,
  { sessions }: Harness,
  id: string,
): boolean =>
  sessions === null ||
  world.agentState.natives(run.id).some((native) => native.id === id) ||
  sessions.find(placesOf(world, run.id), id, world.readDatabase) !== null

type Fencing = Pick<World, 'agentInbox' | 'agentState' | 'evidence' | 'fences' | 'usageFiles'>

/** Was it fenced off because of this conversation already? */
export const isFencedFrom = ({ agentState, fences }: Fencing, run: Run, native: NativeId): boolean =>
  fences.intent(run.id) !== null && agentState.refused(run.id).some(({ harness, id }) => harness === native.harness && id === native.id)

export function fenceOff(world: Fencing, run: Run, { harness, id }: NativeId, owner: Run, by: 'agent' | 'inner' = 'agent'): void {
  // One that is over calls no tools.
  if (!isLive(run) || world.evidence.exit(run.id) !== null) return
  // Its tool calls now name that one: they are this run's all the same.
  world.agentState.recordRefused(run.id, { harness, id })
  doubt(world, owner, { harness, id }, run)
  const went = by === 'agent' ? 'it went' : 'an agent inside it went'
  const reason = `${went} to the ${harness} session ${id}, which session ${owner.session} has: both would write to the same transcript; end this agent, and resume its own session`
  if (world.fences.intent(run.id) !== null) return
  world.fences.retire(run.id, { end: 'superseded', by: 'holdfast', reason })
  world.agentInbox.leave(owner.id, {
    topic: `conflict-${run.id}`,
    text: `session ${run.session} has just gone to your conversation (${id}); it was fenced off. End it: holdfast stop ${run.session}`,
  })
}
