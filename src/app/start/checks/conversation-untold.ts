import type { Agent, Harness, LiveRun, NativeId, SessionRecord } from '../../../model/index.ts'
import { isLive, Problem } from '../../../model/index.ts'
import { type Whose, whoseAgents } from '../../agent/find-agents.ts'
import { agentFacts, agentLine } from '../../agent/unmanaged-agents.ts'
import { beginsAtOnce, sessionsBegun } from '../../conversation/begun.ts'
import { learnNative } from '../../conversation/conversation.ts'
import type { World } from '../../world/world.ts'

export type Despite = {
  /** Sessions that are left to the claim. */
  readonly except: readonly string[]
  /** A person says that it is none of what Holdfast did not start. */
  readonly unmanaged: boolean
}

/**
 * Some harnesses tell nobody which conversation they carry. While one of them is at work where a conversation lies, and its own is not known, that
 * may be the very one: a second owner is refused, whatever directory it would work in.
 */
export async function maybeOwned(world: World, native: NativeId, { except, unmanaged }: Despite): Promise<Problem | null> {
  const harness = world.harnesses().find(({ name }) => name === native.harness)
  const found = harness?.sessions?.find(world.env, native.id, world.readDatabase) ?? null
  if (harness === undefined || found === null || showsItself(harness)) return null
  const agents = (await whoseAgents(world)).filter(
    ({ agent }) => agent.harness === harness.name && isUntold(agent) && worksIn(world, agent, found.dir),
  )
  for (const one of agents) {
    if (one.session === null ? unmanaged : except.includes(one.session)) continue
    const record = one.session === null ? null : await untoldOf(world, one.session)
    if (one.session !== null && record === null) continue
    if (record?.run != null && isLive(record.run) && !couldCarry(world, record.run, harness, one.agent, native.id)) continue
    return refusal(world, harness, native, one)
  }
  return null
}

/** A list of its live processes, or a file that it keeps open, says which conversation each of them has, or that it has none yet. */
const showsItself = ({ registry, capture }: Harness): boolean => registry !== null || capture.some(({ from }) => from === 'open-file')

const isUntold = ({ nativeId, named }: Agent): boolean => nativeId === null && named === null

/** A conversation whose place nobody tells may be anywhere. An agent that may not be looked at is another user's, with conversations of its own. */
function worksIn({ directories }: Pick<World, 'directories'>, { cwd }: Agent, dir: string | null): boolean {
  if (cwd === null) return false
  const key = directories.keyAt(cwd)
  return dir === null || cwd === dir || (key !== null && key === directories.keyAt(dir))
}

/** A session whose conversation is not known, also not after a close look; null: it is known, or the session is over. */
async function untoldOf(world: World, id: string): Promise<SessionRecord | null> {
  const store = await world.store('reader')
  const isKnown = ({ run }: SessionRecord): boolean => run === null || !isLive(run) || world.agentState.natives(run.id).length > 0
  const before = await store.sessions.find(id, 'exact')
  if (before.kind !== 'found' || isKnown(before.view)) return null
  if (before.view.run !== null && isLive(before.view.run)) await learnNative(world, store, before.view.run, before.view.session)
  const after = await store.sessions.find(id, 'exact')
  return after.kind !== 'found' || isKnown(after.view) ? null : after.view
}

/** A run that was given its prompt has a new conversation: none that was there before. */
function couldCarry(world: World, run: LiveRun, harness: Harness, agent: Agent, id: string): boolean {
  if (!beginsAtOnce(run, harness)) return true
  const sources = harness.capture.flatMap((source) => (source.from === 'begun' ? source.find : []))
  return sources.length === 0 || sources.some((find) => sessionsBegun(world, run, find, agent).includes(id))
}

function refusal(world: World, harness: Harness, { id }: NativeId, { agent, session }: Whose): Problem {
  const whose = session === null ? 'which Holdfast did not start' : `which is session ${session}`
  const ways =
    session === null
      ? [`holdfast adopt ${agent.row.pid} takes it in as a session`, 'end it yourself', '--allow-unmanaged, if you know that it has another one']
      : [`holdfast stop ${session}`, 'end it where it was started', '--force, if you know that it has another one']
  const hooks = harness.hooks === null ? [] : [`holdfast hooks install ${harness.name} lets the next one tell it`]
  return new Problem(
    'conversation-unproven',
    `${harness.title} session ${id} may be the one that ${agentLine(world, agent)} carries, ${whose}: ${harness.title} does not tell which it has`,
    {
      hint: [...ways, ...hooks].join(' · '),
      detail: { nativeId: id, session, agent: agentFacts(world, agent) },
    },
  )
}
