import type { OnLive } from '../decide/index.ts'
import type { Agent, CgroupBase, Directory, OnRetire, Run, Store, Until } from '../model/index.ts'
import { ID_GRAMMAR, isLive, isSessionId, Problem } from '../model/index.ts'
import { findDirectory } from '../observe/index.ts'
import { ancestorsOf, type Front, frontOf, lineageOf, parentRun } from './caller.ts'
import { worktreeFor } from './worktree.ts'
import type { World } from './world.ts'

export type StartRequest = {
  /** An id of ours, or the name of an existing session. Left out: a new one. */
  readonly session?: string | undefined
  readonly name?: string | undefined
  readonly dir?: string | undefined
  /** In a linked git worktree of its own; the branch, or '' for one named after the session. */
  readonly worktree?: string | undefined
  readonly argv: readonly string[]
  readonly detach: boolean
  readonly onLive: OnLive
  readonly waitMs?: number | undefined
  readonly force?: boolean | undefined
  readonly share?: boolean | undefined
  readonly until?: Until | undefined
  readonly independent?: boolean | undefined
  /** Work beside agents that Holdfast did not start. */
  readonly allowUnmanaged?: boolean | undefined
  /** Takes in what runs already, instead of starting anything. */
  readonly adopt?: Agent | undefined
  /** Makes it a task of the session around the caller. */
  readonly task?: OnRetire | undefined
  readonly timeoutMs?: number | undefined
  /** In tokens. */
  readonly budget?: number | undefined
  readonly graceMs?: number | undefined
  readonly umask?: number | undefined
}

/** Everything about a start that does not change while the way is cleared. */
export type Plan = {
  readonly world: World
  readonly store: Store
  readonly request: StartRequest
  readonly session: string
  readonly directory: Directory
  /** The worktree that was made for this start. */
  readonly made: string | null
  readonly front: Front | null
  readonly lineage: readonly string[]
  readonly parent: Run | null
  readonly ancestors: readonly string[]
  readonly base: CgroupBase
  /** The session's epoch when we first looked. */
  readonly firstEpoch: number
}

export async function prepare(world: World, request: StartRequest): Promise<Plan> {
  if (!Array.isArray(request.argv) || request.argv.length === 0 || request.argv[0] === '')
    throw new Problem('usage', 'there is no command to run', { hint: 'holdfast run [options] -- COMMAND [ARGUMENTS…]' })
  for (const id of [request.session, request.name]) {
    if (id !== undefined && !isSessionId(id)) throw new Problem('usage', `${JSON.stringify(id)} cannot name a session`, { hint: `use ${ID_GRAMMAR}` })
  }
  if (request.dir === '') throw new Problem('usage', '--dir needs a directory', { hint: 'leave it out for the current one' })
  if (world.processes.here().pidNamespace === '')
    throw new Problem('unavailable', '/proc shows another pid namespace than ours, so no process could be told from another', {
      hint: 'mount it anew: unshare --mount-proc, or mount -t proc proc /proc',
    })
  const front = request.detach ? null : frontOf(world)
  if (!request.detach && front === null)
    throw new Problem('usage', 'a run in the foreground needs the holdfast command', { hint: 'use bin/holdfast, or --detach' })
  const lineage = lineageOf(world, frontOf(world))
  const store = await world.store('writer')
  const found = request.session === undefined ? null : await store.find(request.session, 'exact')
  const parent = await parentRun(world, frontOf(world))
  await refuseInVain(store, request, found?.kind === 'found' ? found.view.session.id : request.session, parent)
  const known = found?.kind === 'found' ? found.view.session : null
  const session = known?.id ?? request.session ?? request.name ?? newSessionId(request.adopt?.harness ?? request.argv[0] ?? 'run', world)
  const about = { ancestors: await ancestorsOf(world, parent), base: world.cgroups.base(), firstEpoch: known?.epoch ?? 0 }
  // Last, since it may make something.
  const from = request.dir ?? currentDirectory()
  const worktree = request.worktree === undefined ? null : await worktreeFor(world, store, from, request.worktree, session)
  const directory = directoryAt(worktree?.dir ?? from, session, world)
  return { world, store, request, directory, made: worktree?.made === true ? worktree.path : null, front, lineage, parent, session, ...about }
}

/** What would be refused at the claim is refused before anybody is retired for it. */
async function refuseInVain(store: Store, request: StartRequest, session: string | undefined, parent: Run | null): Promise<void> {
  const holder = request.name === undefined ? null : await store.find(request.name, 'exact')
  if (holder?.kind === 'found' && holder.view.session.id !== session) throw nameTaken(request.name, holder.view.session.id)
  if (parent !== null && request.independent !== true && (!isLive(parent) || parent.state === 'stopping')) throw parentEnding(parent)
}

export const nameTaken = (name: string | undefined, by = 'another one'): Problem =>
  new Problem('usage', `the name ${name} is taken by session ${by}`, { hint: `to start its next run: holdfast resume ${name}` })
export const parentEnding = (parent: Run | null): Problem =>
  new Problem('held', `the session around this command (${parent?.session}) is ending; nothing is started in it any more`, {
    hint: 'start it outside, or with --independent',
  })

function newSessionId(program: string, { clock }: World): string {
  const stem = program
    .slice(program.lastIndexOf('/') + 1)
    .replaceAll(/[^A-Za-z0-9._-]/g, '')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 40)
  const letters = Array.from({ length: 5 }, () => 'abcdefghjkmnpqrstuvwxyz23456789'[Math.floor(clock.random() * 31)])
  return `${stem || 'run'}-${letters.join('')}`
}

/** A session may outlive the worktree that it had. */
function directoryAt(path: string, session: string, { islands }: World): Directory {
  try {
    return findDirectory(path, islands)
  } catch (error) {
    if (!(error instanceof Problem) || !path.startsWith(`${islands}/`)) throw error
    throw new Problem(error.kind, `${error.message}: the worktree of session ${session} was removed`, {
      hint: `start it in a new one: holdfast run --session ${session} --worktree=BRANCH -- COMMAND…`,
      cause: error,
    })
  }
}

/** Worktrees get deleted under people. */
function currentDirectory(): string {
  try {
    return process.cwd()
  } catch (error) {
    throw new Problem('noSuchSession', 'the current directory no longer exists', { hint: 'say where with --dir', cause: error })
  }
}
