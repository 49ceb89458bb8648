import { basename } from 'node:path'
import { strongestOfEach } from '../../../decide/index.ts'
import type { Directory, Harness, NativeClaim, NativeId } from '../../../model/index.ts'
import { Problem } from '../../../model/index.ts'
import { claimsOf, heldBy, keeperOf, type Whose, whoseAgents } from '../../agent/find-agents.ts'
import { agentFacts, agentLine, agentsHere, markedBy, ownersOf } from '../../agent/unmanaged-agents.ts'
import { seeAll } from '../../see/look-at-sessions.ts'
import { everybody } from '../../world/process-candidate.ts'
import type { World } from '../../world/world.ts'

type Owner = Whose & { readonly how: NativeClaim['how'] }

/**
 * The refusal of a conversation that a live process carries already, in any directory. Processes of the sessions `except` are left to its claim.
 * A command line is no proof, but it is enough to refuse a second owner. `despiteNamed`: a person says that it is none.
 */
export async function ownedAlready(world: World, native: NativeId, except: readonly string[], despiteNamed = false): Promise<Problem | null> {
  const rows = everybody(world)
  const owners = (await ownersOfNative(world, native, rows)).filter(
    ({ session, how }) => (session === null || !except.includes(session)) && !(despiteNamed && how === 'named'),
  )
  const [first] = owners
  if (first === undefined) return null
  const told = owners.map((owner) => `${agentLine(world, owner.agent)}${whose(owner)} (${BECAUSE[owner.how]})`).join('; ')
  return new Problem('conversation-in-use', `${native.harness} session ${native.id} is in use by ${told}`, {
    hint: (await waysOut(world, first, rows)).join(' · '),
    detail: {
      nativeId: native.id,
      unmanaged: owners.filter(({ session }) => session === null).map(({ agent, how }) => ({ ...agentFacts(world, agent), how })),
      sessions: owners.flatMap(({ session }) => session ?? []),
    },
  })
}

/** The newest session of a directory may be that of an agent that works there. Agents of the session itself are left to its claim. */
export async function newestInUse(world: World, harness: Harness, directory: Directory, exceptSession: string): Promise<Problem | null> {
  const mounts = world.directories.mounts()
  const agents = agentsHere(world).filter(
    (agent) => agent.harness === harness.name && agent.cwd !== null && world.directories.look(agent.cwd, mounts)?.key === directory.key,
  )
  const rows = agents.map(({ row }) => row)
  const owners = rows.length === 0 ? new Map<number, string>() : await ownersOf(world, rows)
  const there = agents.find(({ row }) => owners.get(row.pid) !== exceptSession)
  if (there === undefined) return null
  return new Problem(
    'conversation-newest-in-use',
    `it would go on with the newest ${harness.title} session of ${directory.path}, where ${agentLine(world, there)} is at work`,
    {
      hint: 'name the session that you mean: holdfast resume ID; holdfast ls --all shows them',
      detail: { unmanaged: [agentFacts(world, there)] },
    },
  )
}

/** One that is taken in brings its session along: it must not be another live session's. */
export async function ownedElsewhere(world: World, native: NativeId, exceptPid: number): Promise<Problem | null> {
  const owner = (await ownersOfNative(world, native)).find(({ agent, session }) => session !== null && agent.row.pid !== exceptPid)
  const held = owner?.session ?? (await recordedFor(world, native))
  if (held === null) return null
  const who = owner === undefined ? 'on record' : `${agentLine(world, owner.agent)}, ${BECAUSE[owner.how]}`
  return new Problem(
    'conversation-owned',
    `${native.harness} session ${native.id} is owned by session ${held} (${who}): both write to the same transcript`,
    {
      hint: `end one of them: holdfast stop ${held}, or pid ${exceptPid} yourself`,
      detail: { nativeId: native.id, sessions: [held] },
    },
  )
}

/** Live processes that own it, as far as is known best of each. */
async function ownersOfNative(world: World, { harness, id }: NativeId, rows = everybody(world)): Promise<Owner[]> {
  const found = await whoseAgents(world, rows)
  const { views } = await (await world.store('reader')).sessions.snapshot('live', world.policy.sessionsShown)
  return strongestOfEach(claimsOf(found, heldBy(world, views, rows))).flatMap((claim) => {
    const one = found.find(({ agent }) => agent.row.pid === claim.pid)
    return one !== undefined && claim.harness === harness && claim.nativeId === id ? [{ ...one, how: claim.how }] : []
  })
}

/** The live session that has it on record. */
async function recordedFor(world: World, { harness, id }: NativeId): Promise<string | null> {
  const { sights } = await seeAll(world, 'live')
  return sights.find(({ session }) => session.harness === harness && session.native === id)?.session.id ?? null
}

const BECAUSE: Readonly<Record<NativeClaim['how'], string>> = {
  proven: 'its harness says so',
  recorded: 'on record',
  named: 'its command line names it, and nothing says otherwise',
}

const whose = ({ session }: Owner): string => (session === null ? ', which Holdfast did not start' : `, which is part of session ${session}`)

async function waysOut(
  world: Pick<World, 'harnessDaemons' | 'processes' | 'store'>,
  { agent, session, how }: Owner,
  rows: ReturnType<typeof everybody>,
): Promise<string[]> {
  if (session !== null) return [`holdfast stop ${session}`, 'or end it where it was started']
  const beside = how === 'named' ? ['--allow-unmanaged, if you know that it has left that one'] : []
  const kept = keeperOf(agent.row, world.harnessDaemons(rows))
  // A daemon would start it again: only the harness itself can end it, and joins it by the same word.
  if (kept !== null) return [...(kept.stop === null ? [] : waysOfDaemon(kept.stop)), ...beside]
  const adopt = (await markedBy(world, agent)) === null ? [`holdfast adopt ${agent.row.pid} takes it in as a session`] : []
  return [...adopt, 'end it yourself', ...beside]
}

/** Where its program lies says little. */
const waysOfDaemon = ([program = '', verb = '', ...id]: readonly string[]): string[] => {
  const own = (word: string): string => [basename(program), word, ...id].join(' ')
  return verb === 'stop' ? [`${own('attach')} joins it`, `${own(verb)} ends it`] : [`${own(verb)} ends it`]
}
