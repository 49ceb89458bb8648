import { templateValues, workPrompt } from '../../../decide/index.ts'
import { type Directory, isLive, NOT_STARTED, Problem, policy, type Store, type WorkRequest } from '../../../model/index.ts'
import type { StartRequest } from '../../start/request.ts'
import { resumptionOf } from '../../start/resume.ts'
import { start } from '../../start/start.ts'
import { worktreeFor } from '../../worktree/worktree.ts'
import { endRequest } from './end-request.ts'
import { runHook } from './hook.ts'
import { recordTrouble } from './settle.ts'
import { holdsOf, type Pass } from './worker.ts'
import type { RepositoryWork } from './workflow.ts'

type Allowed = Exclude<RepositoryWork, { kind: 'blocked' }>

/** Begins the next run of a request that this worker has just claimed. A start that fails gives the claim back, or ends the request. */
export async function begin(pass: Pass, request: WorkRequest, work: Allowed, before: string | null): Promise<void> {
  const { done } = pass
  try {
    const run = await startAgent(pass, request, work, before)
    if (run !== null) done.changes.push(`${request.id} runs in session ${request.session}`)
  } catch (error) {
    await giveBack(pass, request, error)
  }
}

async function startAgent(pass: Pass, request: WorkRequest, work: Allowed, before: string | null): Promise<string | null> {
  const { world, store } = pass
  const placed = await place(pass, request)
  if (placed === null) return null
  const { dir, made } = placed
  await runHook(pass, request, 'afterCreate', work.workflow, dir, made)
  await runHook(pass, request, 'beforeRun', work.workflow, dir, true)
  const at = world.clock.now()
  const receipt = { way: 'run', run: null, epoch: request.seenEpoch, message: null, why: 'it is in the prompt of the next run' } as const
  const feedback = request.pending === 0 ? [] : await store.feedback.begin(holdsOf(request), receipt, at)
  const words = await wordsOf(pass, request, work)
  const resumed = words.resume !== undefined
  const own = resumed || work.workflow.prompt === '' ? null : world.workflows.render(work.workflow.prompt, templateValues(request))
  const text = workPrompt({
    id: request.id,
    order: request.order,
    branch: request.branch ?? '',
    own,
    resumed,
    before: request.attempt > 1 ? before : null,
    feedback,
  })
  // Whoever closed it in the meantime is heard before anything runs.
  const now = await store.requests.get(request.id)
  if (now === null || now.closing !== null || now.token !== request.token) return null
  const started = await start(world, {
    ...words,
    dir,
    prompt: { text },
    detach: true,
    onLive: 'refuse',
    timeoutMs: request.order.timeoutMs ?? work.workflow.limits.wallMs ?? undefined,
    budget: request.order.budget ?? work.budget ?? undefined,
  })
  if (started.kind === 'attach') throw new Problem('owner-alive', `session ${request.session} has an owner already`)
  await store.requests.recordStarted(holdsOf(request), started.run.id, world.clock.now())
  return started.run.id
}

/** Its worktree, on record before anything happens in it. Null: somebody else has the request by now. */
async function place({ world, store }: Pass, request: WorkRequest): Promise<{ dir: string; made: boolean } | null> {
  const { order, session, branch } = request
  const around = repositoryAt(world, order.repo)
  const { dir, made } = await worktreeFor(world, store, around, branch ?? '', session)
  const base = request.base ?? (await baseOf(world, order.repo, branch ?? ''))
  const isOurs = await store.requests.recordPlaced(holdsOf(request), { dir, branch: branch ?? '', base }, world.clock.now())
  return isOurs ? { dir, made } : null
}

function repositoryAt(world: Pass['world'], repo: string): Directory {
  const around = world.directories.look(repo, world.directories.mounts())
  if (around?.repository == null)
    throw new Problem('directory-unreadable', `${repo} is not there any more, or is no git repository`, { hint: `put it back; the request waits` })
  return around
}

async function baseOf({ branches }: Pass['world'], repo: string, branch: string): Promise<string> {
  const base = await branches.base(repo, branch)
  if ('commit' in base) return base.commit
  throw new Problem('worktree-not-made', `it cannot be told where ${branch} begins in ${repo}: ${base.why}`)
}

/** Its agent's own words. An agent that has a conversation about the request goes on with it. */
async function wordsOf(
  { world, store, config }: Pass,
  request: WorkRequest,
  { workflow }: Allowed,
): Promise<Pick<StartRequest, 'session' | 'harness' | 'argv' | 'resume' | 'newConversation'>> {
  const { session, order } = request
  const { harness, argv } = agentOf(order.harness, workflow.agent, config.agent)
  const found = await store.sessions.find(session, 'exact')
  const fresh = { session, harness, argv }
  if (found.kind !== 'found' || found.view.session.native === null || found.view.session.harness !== harness)
    return found.kind === 'found' ? { ...fresh, newConversation: true } : fresh
  try {
    const { dir: _dir, moved: _moved, ...words } = await resumptionOf(world, session, [], { dir: undefined, ends: false })
    return { ...words, session }
  } catch (error) {
    // A conversation that lies nowhere any more is begun anew: the task is in the prompt, and the work is on the branch.
    if (error instanceof Problem && error.id.startsWith('conversation-')) return { ...fresh, newConversation: true }
    throw error
  }
}

/** The repository's own arguments come before those of config.toml, where they are for this agent. */
function agentOf(harness: string, ...words: readonly (readonly string[] | null)[]): { harness: string; argv: readonly string[] } {
  const said = words.find((one) => one?.[0] === harness)
  return { harness, argv: said?.slice(1) ?? [] }
}

/** What no later try can change is an end. Everything else is tried again after a pause. */
async function giveBack(pass: Pass, request: WorkRequest, error: unknown): Promise<void> {
  const { world, store } = pass
  const isProblem = error instanceof Problem
  const isRefused = isProblem && (error.kind === 'badCommand' || error.kind === 'notFound')
  // An agent that was started speaks for itself: its claim is not given back, and the next pass sees its run.
  if (!isRefused && (await hasBegun(store, request))) throw error
  const why = error instanceof Error ? error.message : String(error)
  const says = isProblem && error.hint !== null ? `${why}; ${error.hint}` : why
  const times = await recordTrouble(pass, request, isProblem && error.id === 'hook-failed' ? 'hook' : 'start', why)
  const isFinal = isRefused || (isProblem && error.id === 'hook-failed' && times >= policy.hookTries)
  const now = (await store.requests.get(request.id)) ?? request
  if (isFinal) {
    const step = { kind: 'end', ending: { state: 'blocked', reason: 'start-refused', by: 'worker' }, summary: says } as const
    await endRequest(pass, now, step, null, `then: holdfast work retry ${request.id}`)
    return
  }
  await store.requests.recordReleased(holdsOf(request), { why: says, dueAt: now.dueAt, counts: false }, world.clock.now())
}

async function hasBegun({ sessions }: Store, { session, seenEpoch }: WorkRequest): Promise<boolean> {
  const found = await sessions.find(session, 'exact')
  const run = found.kind === 'found' ? found.view.run : null
  if (run === null || run.epoch <= seenEpoch) return false
  // A program that cannot be executed has a process, too, and never spoke.
  return isLive(run) || (run.harness !== null && !run.reason.startsWith(NOT_STARTED))
}
