import type { Directory, Run, Store, Until } from '../../model/index.ts'
import { ID_GRAMMAR, isLive, isSessionId, Problem } from '../../model/index.ts'
import { ancestorsOf, lineageOf, provenFront } from '../caller/caller.ts'
import { runAround } from '../caller/who-am-i.ts'
import { carriedBy } from '../lock/refusal-message.ts'
import { refuseUnhosted } from '../pane/hosting.ts'
import { worktreeFor } from '../worktree/worktree.ts'
import { currentDirectory } from '../world/working-directory.ts'
import type { World } from '../world/world.ts'
import { speak } from './agent-command.ts'
import { refuseUncounted } from './budget.ts'
import type { Plan, Spoken } from './plan.ts'
import type { StartRequest } from './request.ts'

export async function prepare(world: World, asked: StartRequest): Promise<Plan> {
  if (!Array.isArray(asked.argv) || ((asked.harness ?? 'generic') === 'generic' && (asked.argv.length === 0 || asked.argv[0] === '')))
    throw new Problem('command-missing', 'there is no command to run', {
      hint: 'holdfast run [options] claude, codex…, or: holdfast run [options] -- COMMAND [ARGUMENTS…]',
    })
  for (const id of [asked.session, asked.name]) {
    if (id !== undefined && !isSessionId(id))
      throw new Problem('session-id-invalid', `${JSON.stringify(id)} cannot name a session`, { hint: `use ${ID_GRAMMAR}` })
  }
  if (asked.dir === '') throw new Problem('option-value-missing', '--dir needs a directory', { hint: 'leave it out for the current one' })
  if (world.processes.here().pidNamespace === '')
    throw new Problem('pid-namespace-foreign', '/proc shows another pid namespace than ours, so no process could be told from another', {
      hint: 'mount it anew: unshare --mount-proc, or mount -t proc proc /proc',
    })
  const around = await provenFront(world)
  const stays = asked.detach || asked.tmux === true
  const front = stays ? null : around
  if (asked.tmux === true) await refuseUnhosted(world)
  if (!stays && front === null)
    throw new Problem('front-missing', 'a run in the foreground needs the holdfast command', { hint: 'use bin/holdfast, or --detach' })
  const lineage = lineageOf(world, around)
  const store = await world.store('writer')
  refuseUnclear(world)
  const spoken = speak(world, asked)
  refuseUncounted(world, asked, spoken)
  const request = { ...asked, argv: spoken.argv, session: asked.session ?? (await sessionOf(store, spoken)), until: untilOf(asked, spoken) }
  const found = request.session === undefined ? null : await store.sessions.find(request.session, 'exact')
  const parent = await runAround(world, 'writer')
  await refuseInVain(store, request, found?.kind === 'found' ? found.view.session.id : request.session, parent)
  const known = found?.kind === 'found' ? found.view.session : null
  // What runs already carries what it carries: if that one's session lives, the claim says so.
  if (request.adopt === undefined) await refuseForeignConversation(world, store, spoken, known?.id ?? request.session)
  const session =
    known?.id ?? request.session ?? request.name ?? newSessionId(request.adopt?.harness ?? spoken.harness?.name ?? request.argv[0] ?? 'run', world)
  const about = { ancestors: await ancestorsOf(world, parent), base: world.cgroups.base(), firstEpoch: known?.epoch ?? 0 }
  // Last, since it may make something.
  const from = request.dir ?? currentDirectory(world, 'say where with --dir')
  const worktree = request.worktree === undefined ? null : await worktreeFor(world, store, from, request.worktree, session)
  const directory = directoryAt(worktree?.dir ?? from, session, world)
  return { world, store, request, spoken, directory, made: worktree?.made === true ? worktree.path : null, front, lineage, parent, session, ...about }
}

/** What was configured and not understood is not left out in silence: an agent may rely on it. */
function refuseUnclear(world: World): void {
  world.ownHarnesses()
  const trouble = world.configTrouble()
  if (trouble !== null) throw new Problem('config-invalid', trouble, { hint: 'put it right, and say it again; stop, ls and status go on without it' })
}

/** Whoever names a conversation means the session that it is on record for. */
async function sessionOf(store: Store, { harness, native }: Spoken): Promise<string | undefined> {
  const owner = harness === null || native === null ? null : await store.conversations.owner({ harness: harness.name, id: native })
  return owner?.session.id
}

/** One conversation is one session's. */
async function refuseForeignConversation(world: World, store: Store, { harness, native }: Spoken, session: string | undefined): Promise<void> {
  const owner = harness === null || native === null ? null : await store.conversations.owner({ harness: harness.name, id: native })
  if (owner === null || owner.session.id === session) return
  const { run } = owner
  if (run !== null && isLive(run)) throw carriedBy(world, `${harness?.title} session ${native}`, run)
  throw new Problem('conversation-of-other-session', `the ${harness?.title} session ${native} is that of session ${owner.session.id}`, {
    hint: `to go on with it: holdfast resume ${owner.session.id}`,
  })
}

/** A session that goes on in the harness's own daemon is not over with the command that began it. */
const untilOf = ({ until }: StartRequest, spoken: Spoken): Until | undefined => until ?? (spoken.daemonizes ? 'tree' : undefined)

/** What would be refused at the claim is refused before anybody is retired for it. */
async function refuseInVain(store: Store, request: StartRequest, session: string | undefined, parent: Run | null): Promise<void> {
  const holder = request.name === undefined ? null : await store.sessions.find(request.name, 'exact')
  if (holder?.kind === 'found' && holder.view.session.id !== session) throw nameTaken(request.name, holder.view.session.id)
  if (parent !== null && request.independent !== true && (!isLive(parent) || parent.state === 'stopping')) throw parentEnding(parent)
}

export const nameTaken = (name: string | undefined, by = 'another one'): Problem =>
  new Problem('name-taken', `the name ${name} is taken by session ${by}`, { hint: `to start its next run: holdfast resume ${name}` })
export const parentEnding = (parent: Run | null): Problem =>
  new Problem('parent-ending', `the session around this command (${parent?.session}) is ending; nothing is started in it any more`, {
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
function directoryAt(path: string, session: string, { directories, islands }: World): Directory {
  try {
    return directories.find(path)
  } catch (error) {
    if (!(error instanceof Problem) || !path.startsWith(`${islands}/`)) throw error
    throw new Problem(error.id, `${error.message}: the worktree of session ${session} was removed`, {
      hint: `start it in a new one: holdfast run --session ${session} --worktree=BRANCH -- COMMAND…`,
      cause: error,
    })
  }
}
