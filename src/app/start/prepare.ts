import type { Directory, SessionRecord, Store, Until } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { type Caller, proveCaller } from '../caller/prove-caller.ts'
import { learnAll } from '../conversation/learn.ts'
import { expectedWorktree, goneWorktree, remakeWorktree, unmadeAt, worktreeAt, worktreeFor } from '../worktree/worktree.ts'
import { currentDirectory } from '../world/working-directory.ts'
import type { World } from '../world/world.ts'
import { commandFacts, speak } from './agent-command.ts'
import { checked } from './checks/check.ts'
import { once } from './once.ts'
import type { AgentCommand, Asked, Called, Known, Placed, Plan, Worded } from './plan.ts'
import type { StartRequest } from './request.ts'

// Each step gathers the facts of one stage, and refuses nothing: the checks of that stage do.

/** `proven`: the caller, where somebody has just proven it. */
export async function withCaller({ world, asked }: Asked, proven: Caller | null): Promise<Called> {
  const caller = proven ?? (await proveCaller(world))
  const isForeground = !asked.detach && asked.tmux !== true
  return { world, asked, caller, front: isForeground ? caller.front : null }
}

export function withCommand(called: Called): Worded {
  const facts = commandFacts(called)
  return { ...facts, spoken: once(() => speak(facts)) }
}

export async function withSession({ world, asked, caller, front, spoken: speech }: Worded): Promise<Known> {
  const store = await world.store('writer')
  const spoken = speech()
  // Its owner on record may have gone on to another conversation, and somebody else may have come to this one.
  if (spoken.native !== null || spoken.names.length > 0) await learnAll(world, store)
  const owner = await ownerOf(store, spoken)
  // The session that has the conversation on record is meant, unless another one is named.
  const request = { ...asked, argv: spoken.argv, session: asked.session ?? owner?.session.id, until: untilOf(asked, spoken) }
  const found = request.session === undefined ? null : await store.sessions.find(request.session, 'exact')
  return { world, asked, caller, front, store, request, spoken, owner, known: found?.kind === 'found' ? found.view.session : null }
}

const ownerOf = async (store: Store, { harness, native }: AgentCommand): Promise<SessionRecord | null> =>
  harness === null || native === null ? null : store.conversations.owner({ harness: harness.name, id: native })

/** A session that goes on in the harness's own daemon is not over with the command that began it. */
const untilOf = ({ until }: StartRequest, spoken: AgentCommand): Until | undefined => until ?? (spoken.daemonizes ? 'tree' : undefined)

export function withPlace(facts: Known): Placed {
  const { world, request, spoken, known } = facts
  const session =
    known?.id ?? request.session ?? request.name ?? newSessionId(request.adopt?.harness ?? spoken.harness?.name ?? request.argv[0] ?? 'run', world)
  const from = orProblem(() => request.dir ?? currentDirectory(world, 'say where with --dir'))
  // Only where the session itself worked: nobody else asks for a worktree by naming its place.
  const origin = request.worktree === undefined && known !== null && from === known.dir ? goneWorktree(world, known.dir) : null
  const gone = origin === null || known === null ? null : { origin, dir: known.dir }
  if (gone !== null) return { ...facts, session, from, gone, around: orProblem(() => world.directories.find(gone.origin.repository)) }
  return { ...facts, session, from, gone, around: from instanceof Problem ? from : directoryAt(from, session, facts) }
}

/** The plan of a start that the checks have let pass so far. Nothing is made for it yet. */
export function planOf({ world, store, request, spoken, session, caller, front, known, ...placed }: Placed): Plan {
  const { lineage, parent, ancestors } = caller
  const around = checked(placed.around)
  const branch = request.worktree
  const { gone } = placed
  return {
    world,
    store,
    request,
    spoken,
    session,
    front,
    lineage,
    parent,
    ancestors,
    directory: gone !== null ? unmadeAt(gone.dir) : branch === undefined ? around : expectedWorktree(world, around, branch, session),
    unmade: gone !== null ? { around, branch: gone.origin.branch, gone } : branch === undefined ? null : { around, branch, gone: null },
    base: world.cgroups.base(),
    firstEpoch: known?.epoch ?? 0,
  }
}

/** The same with its worktree, which is found or made by now. `made`: the path of one that is new. */
export async function withWorktree(plan: Plan): Promise<{ readonly plan: Plan; readonly made: string | null }> {
  const { world, store, unmade, session } = plan
  if (unmade === null) return { plan, made: null }
  const { path, dir, made } = await (unmade.gone === null
    ? worktreeFor(world, store, unmade.around, unmade.branch, session)
    : remakeWorktree(world, store, unmade.gone.origin, unmade.gone.dir, session))
  return { plan: { ...plan, unmade: null, directory: world.directories.find(dir) }, made: made ? path : null }
}

function newSessionId(program: string, { clock }: Pick<World, 'clock'>): string {
  const stem = program
    .slice(program.lastIndexOf('/') + 1)
    .replaceAll(/[^A-Za-z0-9._-]/g, '')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 40)
  const letters = Array.from({ length: 5 }, () => 'abcdefghjkmnpqrstuvwxyz23456789'[Math.floor(clock.random() * 31)])
  return `${stem || 'run'}-${letters.join('')}`
}

/** A session may outlive the worktree that it had. */
function directoryAt(path: string, session: string, { world, request }: Known): Directory | Problem {
  const { directories, worktreesFolder } = world
  const found = orProblem(() => directories.find(path))
  if (!(found instanceof Problem) || request.worktree !== undefined || !path.startsWith(`${worktreesFolder}/`)) return found
  const { branch = null } = worktreeAt(world, path) ?? {}
  const on = branch === null ? '' : `, which was on branch ${branch},`
  return new Problem(found.id, `${found.message}: the worktree of session ${session}${on} was removed, and its repository is not known or gone`, {
    hint: `to go on elsewhere: holdfast resume ${session} --dir DIRECTORY`,
    cause: found,
  })
}

/** A fact, or why there is none. */
function orProblem<T>(gather: () => T): T | Problem {
  try {
    return gather()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}
