import { harnessOf, isHere } from '../../act/index.ts'
import { duplicateOwners } from '../../decide/index.ts'
import type { Agent, DuplicateOwners, HarnessDaemon, NativeClaim, ProcessRow, Session, SessionRecord } from '../../model/index.ts'
import { isDead, isLive, sameProcess } from '../../model/index.ts'
import { alsoOwnedText, type OwnerView, type SessionView, type UnmanagedView } from '../../show/index.ts'
import { everybody } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'
import { agentsHere, markedBy, ownersOf, sinceOf } from './unmanaged-agents.ts'

/** An agent at work, and the session that it belongs to; null: nobody's. */
export type Whose = { readonly agent: Agent; readonly session: string | null }

/** A live session of ours with the process that is its harness, if that is alive. */
export type Held = { readonly session: Session; readonly pid: number | null }

export type Around = {
  readonly sights: readonly SessionView[]
  readonly unmanaged: readonly UnmanagedView[]
  readonly duplicates: readonly DuplicateOwners[]
}

/** What is at work beside our sessions, and which native ids have two owners: told on every line that it concerns. */
export async function lookAround(world: World, sights: readonly SessionView[]): Promise<Around> {
  const rows = everybody(world)
  const found = await whoseAgents(world, rows)
  const duplicates = duplicateOwners(claimsOf(found, heldBy(world, sights, rows)))
  const strangers = found.filter(({ session }) => session === null).map(({ agent }) => agent)
  const daemons = strangers.length === 0 ? [] : world.harnessDaemons(rows)
  const unmanaged: UnmanagedView[] = []
  for (const agent of strangers)
    unmanaged.push({ ...(await sightOf(world, agent, daemons)), duplicateOf: besides(duplicates, ({ pid }) => pid === agent.row.pid) })
  return { sights: sights.map((sight) => flagged(sight, duplicates)), unmanaged, duplicates }
}

/** Native ids that more than one live process owns, whoever started them. */
export async function twoOwners(world: World, views: readonly SessionRecord[]): Promise<readonly DuplicateOwners[]> {
  const rows = everybody(world)
  return duplicateOwners(claimsOf(await whoseAgents(world, rows), heldBy(world, views, rows)))
}

/** All agents at work that are no member of a live run, also those that we were started from. */
export const unmanagedAgents = async (world: World): Promise<readonly UnmanagedView[]> => (await lookAround(world, [])).unmanaged

/** How many agents at work are nobody's. Those that our sessions are about need no closer look. */
export async function strangersBeside(world: World, sights: readonly SessionView[]): Promise<number> {
  const known = new Set(sights.flatMap(({ pid }) => (pid === null ? [] : [pid])))
  const others = agentsHere(world).filter(({ row, launchers }) => ![row, ...launchers].some(({ pid }) => known.has(pid)))
  if (others.length === 0) return 0
  const owners = await ownersOf(
    world,
    others.map(({ row }) => row),
  )
  return others.filter(({ row }) => !owners.has(row.pid)).length
}

/** All agents at work, each with its session. */
export async function whoseAgents(world: World, rows = everybody(world)): Promise<Whose[]> {
  const agents = agentsHere(world, rows)
  if (agents.length === 0) return []
  const owners = await ownersOf(
    world,
    agents.map(({ row }) => row),
  )
  return agents.map((agent) => ({ agent, session: owners.get(agent.row.pid) ?? null }))
}

/** The live sessions here that have a native id on record. */
export function heldBy(world: World, views: readonly SessionRecord[], rows: readonly ProcessRow[]): Held[] {
  return views.flatMap(({ session, run }): Held[] => {
    if (run === null || !isLive(run) || session.native === null || !isHere(run, world)) return []
    const harness = harnessOf(run, world.evidence)
    return [{ session, pid: rows.find((row) => harness !== null && sameProcess(row, harness) && !isDead(row.state))?.pid ?? null }]
  })
}

/** What is said of the native ids of live processes: by harnesses, by our record, by command lines. */
export function claimsOf(found: readonly Whose[], held: readonly Held[]): NativeClaim[] {
  const said = found.flatMap(({ agent, session }): NativeClaim[] => {
    const { harness, row, nativeId, named, cwd } = agent
    const about = { harness, pid: row.pid, session }
    return [
      ...(nativeId === null ? [] : [{ ...about, nativeId, how: 'proven' as const }]),
      // Of one that may not be looked at, what it calls itself is no more than a guess.
      ...(named === null || cwd === null ? [] : [{ ...about, nativeId: named, how: 'named' as const }]),
    ]
  })
  const recorded = held.flatMap(({ session: { id, harness, native }, pid: harnessPid }): NativeClaim[] => {
    if (harness === null || native === null) return []
    const pid = agentOf(found, id, harness, native)?.row.pid ?? harnessPid
    return pid === null ? [] : [{ harness, nativeId: native, how: 'recorded', pid, session: id }]
  })
  return [...said, ...recorded]
}

/** The one in a session's tree that the record is about: the one that says so, or the eldest, since an agent may start others. */
function agentOf(found: readonly Whose[], session: string, harness: string, native: string): Agent | null {
  const own = found.filter((one) => one.session === session && one.agent.harness === harness).map(({ agent }) => agent)
  return own.find(({ nativeId }) => nativeId === native) ?? own.toSorted((a, b) => a.row.ticks - b.row.ticks)[0] ?? null
}

function besides(duplicates: readonly DuplicateOwners[], isOne: (owner: NativeClaim) => boolean): OwnerView[] {
  return duplicates.flatMap(({ owners }) => (owners.some(isOne) ? owners.filter((owner) => !isOne(owner)) : []))
}

/** Its note tells it too, since that is what a person sees. Two owners inside one session are each other's. */
function flagged(sight: SessionView, duplicates: readonly DuplicateOwners[]): SessionView {
  const mine = duplicates.filter(({ owners }) => isLive(sight.run) && owners.some(({ session }) => session === sight.session.id))
  const duplicateOf = mine.flatMap(({ owners }) => owners.filter((owner) => owner !== owners.find(({ session }) => session === sight.session.id)))
  if (duplicateOf.length === 0) return { ...sight, duplicateOf }
  return { ...sight, duplicateOf, note: [...(sight.note === null ? [] : [sight.note]), alsoOwnedText(duplicateOf)].join('; ') }
}

type Bare = Omit<UnmanagedView, 'duplicateOf'>

async function sightOf(world: Pick<World, 'clock' | 'processes' | 'store'>, agent: Agent, daemons: readonly HarnessDaemon[]): Promise<Bare> {
  const { harness, row, launchers, argv, cwd, nativeId, named } = agent
  const origins = world.processes.origins()
  return {
    harness,
    pid: row.pid,
    launchers: launchers.map(({ pid }) => pid),
    nativeId,
    named,
    dir: cwd,
    startedAt: sinceOf(world, row),
    argv,
    marked: await markedBy(world, agent),
    keptBy: keeperOf(row, daemons),
    around: [row, ...launchers].some((one) => origins.some((origin) => sameProcess(origin, one))),
  }
}

/** The shared daemon that would start it again, and how that ends it. */
export function keeperOf(row: ProcessRow, daemons: readonly HarnessDaemon[]): UnmanagedView['keptBy'] {
  for (const { what, served } of daemons) {
    const own = served?.find(({ processes }) => processes.some((one) => sameProcess(one, row)))
    if (own !== undefined) return { what, stop: own.stop?.kind === 'command' ? own.stop.command : null }
  }
  return null
}
