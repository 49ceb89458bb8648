import { harnessOf, isHere, isThere } from '../../act/index.ts'
import type { Agent, LiveRun, NativeId, ProcessId, Run, Session, SessionRecord, Store } from '../../model/index.ts'
import { isLive } from '../../model/index.ts'
import { recordPlaces } from '../usage/usage-baseline.ts'
import { type Recorder, recordInPassing } from '../world/best-effort-write.ts'
import type { World } from '../world/world.ts'
import { agentsOfRun, isItsOwn, type RunAgents } from './agents-of-run.ts'
import { bind, fenceOff, isFencedFrom, isOnDisk } from './bind.ts'
import { noteAgents, recordEndedNested } from './nested.ts'

type Seen = RunAgents & { readonly session: Session; readonly run: LiveRun; readonly command: ProcessId }

/**
 * Looks which conversations the agents of all live runs show now, and records what has changed. Two writers of one conversation are found here:
 * the one that came later is fenced off, and both are told. Answers whether anything changed.
 */
export async function learnAll(world: World, store: Store, known?: readonly SessionRecord[]): Promise<boolean> {
  const views = known ?? (await store.sessions.snapshot('live', world.policy.sessionsShown)).views
  let changed = await settleNested(world, store, views)
  const seen = views.flatMap(({ session, run }): Seen[] => {
    const command = run === null || !isLive(run) || !isHere(run, world) ? null : harnessOf(run, world.evidence)
    if (run === null || !isLive(run) || command === null || !isThere(command, world.processes)) return []
    const agents = agentsOfRun(world, run, command)
    return agents.main === null ? [] : [{ session, run, command, ...agents }]
  })
  if (seen.length === 0) return changed
  const record = recordInPassing()
  // Of two that came to one conversation since the last look, the session that is older stays.
  for (const one of seen.toSorted((a, b) => a.run.startedAt - b.run.startedAt)) {
    const native = shownBy(world, one)
    if (native === null) continue
    await record(async () => {
      const { kind } = await follow(world, store, one, native)
      changed = true
      return kind === 'bound'
    })
  }
  await meetInner(world, store, seen, record)
  for (const { run, inner } of seen) if (inner.length > 0) await noteAgents(world, store, run, inner)
  return changed
}

/** Agents that have ended inside a session come on record while it goes on. */
async function settleNested(world: World, store: Store, views: readonly SessionRecord[]): Promise<boolean> {
  const record = recordInPassing()
  let settled = false
  for (const { run } of views) {
    if (run === null || !isLive(run)) continue
    await record(async () => {
      const hasSettled = await recordEndedNested(world, store, run)
      settled ||= hasSettled
      return hasSettled
    })
  }
  return settled
}

/** Null: it shows none, or the one that is on record. */
function shownBy(world: World, { session, run, main }: Seen): NativeId | null {
  if (main === null) return null
  const harness = world.harnesses().find(({ name }) => name === main.harness)
  const known = world.agentState.natives(run.id).at(-1)
  // A command line says how it began: that counts as long as nothing else is known.
  const id = main.nativeId ?? (known === undefined && session.native === null ? main.named : null)
  if (harness === undefined || id === null || (session.harness === harness.name && session.native === id)) return null
  const native = { harness: harness.name, id }
  if (isFencedFrom(world, run, native)) return null
  notePlaces(world, run, main)
  return isOnDisk(world, run, harness, id) ? native : null
}

/** Where its harness keeps things, its own environment tells: a script may have chosen another place than the caller had. */
function notePlaces(world: World, run: Run, { row }: Agent): void {
  if (world.usageFiles.baseline(run.id).length === 0) recordPlaces(world, run.id, world.processes.environment(row.pid))
}

async function follow(world: World, store: Store, { session, run, main, command }: Seen, native: NativeId): ReturnType<typeof bind> {
  if (main === null || !(await isItsOwn(world, run, main, command)) || (await hasLeft(world, store, run, native.id))) return { kind: 'lost' }
  return bind(world, store, run, native, { how: 'seen', before: session.native })
}

/** Its hook has said that it went on from there: what its harness has written down about it may be older than that, and is no way back. */
export async function hasLeft(world: Pick<World, 'agentState' | 'policy'>, store: Store, run: LiveRun, id: string): Promise<boolean> {
  if (!world.agentState.natives(run.id).some((native) => native.id === id)) return false
  const events = await store.events.list({ session: run.session, after: 0, limit: world.policy.eventsShown })
  return events.findLast((event) => event.run === run.id && event.kind === 'bound')?.detail['how'] === 'hook'
}

/** An agent inside a run that proves to carry the conversation of another run: there is one fence, which is that of its run. */
async function meetInner(world: World, store: Store, seen: readonly Seen[], record: Recorder): Promise<void> {
  const inner = seen.flatMap(({ run, command, inner: agents }) =>
    agents.flatMap((agent) => {
      const { harness, nativeId: id, row } = agent
      return id === null ? [] : [{ run, command, agent, native: { harness, id }, row }]
    }),
  )
  for (const { run, native, row, agent, command } of inner.toSorted((a, b) => a.row.ticks - b.row.ticks)) {
    if (isFencedFrom(world, run, native)) continue
    await record(async () => {
      const owner = (await store.conversations.owner(native))?.run ?? null
      const elder = inner.find((one) => one.run.id !== run.id && isSame(one.native, native) && one.row.ticks < row.ticks)?.run ?? null
      const first = owner !== null && isLive(owner) ? owner : elder
      if (first === null || first.id === run.id || !(await isItsOwn(world, run, agent, command))) return true
      await store.conversations.meet(run, first, native, 'seen', world.clock.now())
      fenceOff(world, run, native, first, 'inner')
      return true
    })
  }
}

const isSame = (one: NativeId, other: NativeId): boolean => one.harness === other.harness && one.id === other.id
