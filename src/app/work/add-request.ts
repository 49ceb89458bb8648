import { type Harness, type HeadLook, type NewRequest, Problem, type Publish, policy, type Store, type WorkRequest } from '../../model/index.ts'
import type { RequestView } from '../../show/index.ts'
import { installedAgent } from '../agent/installed-agents.ts'
import { neverCounted } from '../start/checks/budget.ts'
import { newRequestId } from '../world/ids.ts'
import { currentDirectory } from '../world/working-directory.ts'
import type { World } from '../world/world.ts'
import { findRequest } from './find-request.ts'
import { viewOf } from './see-work.ts'

/** What a person asks for. Left out: the repository around the caller, and as config.toml says. */
export type WorkAddition = {
  readonly text: string
  readonly title?: string | undefined
  readonly repo?: string | undefined
  readonly harness?: string | undefined
  readonly priority?: number | undefined
  /** The requests that have to be done before. */
  readonly after?: readonly string[] | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** In tokens, for each of its runs. */
  readonly budget?: number | undefined
  readonly timeoutMs?: number | undefined
  readonly publish?: Publish | undefined
  /** Its result waits for a person. */
  readonly review?: boolean | undefined
  readonly reworkLimit?: number | undefined
}

/** Puts a piece of work into the queue. Whatever is wrong with it is said before anything is written. */
export async function addRequest(world: World, addition: WorkAddition): Promise<RequestView> {
  const text = textOf(addition.text)
  const title = titleOf(addition.title?.trim() || text)
  const repo = await repositoryOf(world, addition.repo)
  const work = world.work()
  const harness = agentFor(world, addition, work.agent?.[0])
  const store = await world.store('writer')
  const before = await each(store, addition.after ?? [])
  refuseHopeless(before)
  const waitsFor = before.filter(({ state }) => state !== 'done').map(({ id }) => id)
  const id = newRequestId()
  return record(store, {
    id,
    order: {
      title,
      text,
      repo,
      harness: harness.name,
      priority: addition.priority ?? null,
      labels: addition.labels ?? {},
      after: before.map((request) => request.id),
      budget: addition.budget ?? null,
      timeoutMs: addition.timeoutMs ?? null,
      publish: addition.publish ?? work.publish,
      review: addition.review ?? work.review,
      reworkLimit: addition.reworkLimit ?? work.reworkLimit,
      source: null,
      from: null,
      by: `${world.user()}@${world.host}`,
    },
    session: `work-${id}`,
    branch: `holdfast/${id}`,
    ...(waitsFor.length === 0 ? { waitsFor: null, summary: null } : { waitsFor: 'dependency', summary: `it comes after ${waitsFor.join(', ')}` }),
    at: world.clock.now(),
  })
}

/** A request that is named twice counts once. */
async function each(store: Store, references: readonly string[]): Promise<WorkRequest[]> {
  const found = await Promise.all(references.map((reference) => findRequest(store, reference)))
  return [...new Map(found.map((request) => [request.id, request])).values()]
}

async function record(store: Store, request: NewRequest): Promise<RequestView> {
  const { id } = await store.requests.add(request)
  return viewOf(store, await findRequest(store, id), null)
}

export function textOf(said: string): string {
  const text = said.trim()
  if (text === '') throw new Problem('text-empty', 'there is nothing to do: the text is empty', { hint: 'holdfast work add "fix the login"' })
  if (text.includes('\0')) throw new Problem('prompt-not-text', 'the text contains a NUL byte')
  if (text.length > policy.requestChars)
    throw new Problem('text-too-long', `a text has ${policy.requestChars} characters at most, and this one has ${text.length}`, {
      hint: 'put the rest into a file of the repository, and name that',
    })
  return text
}

/** The first line that says something, without the marks of a heading. */
function titleOf(text: string): string {
  const line = (text.split('\n').find((one) => one.trim() !== '') ?? '').replace(/^\s*#+\s+/, '').trim()
  return line.length <= policy.titleChars ? line : `${line.slice(0, policy.titleChars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** Its main working tree: a linked one may go, and all linked ones count as one repository. */
async function repositoryOf(world: World, asked: string | undefined): Promise<string> {
  if (asked === '') throw new Problem('option-value-missing', '--repo needs a directory', { hint: 'leave it out for the current one' })
  const { directories, worktrees } = world
  const around = directories.find(asked ?? currentDirectory(world, 'name one: holdfast work add --repo D …'))
  const found = around.repository
  const main = found === null ? null : directories.mainWorktree(found.root)
  const top = main !== null && main !== found?.root && directories.exists(`${main}/.git`) ? main : found?.root
  if (top === undefined || !directories.exists(`${top}/.git`))
    throw new Problem(
      'repository-missing',
      `${around.path} is in no working tree of a git repository, so no agent can have a branch of its own there`,
      {
        hint: 'name a repository: holdfast work add --repo D …; or make one: git init',
      },
    )
  return checkedHead(top, await worktrees.head(top))
}

function checkedHead(repository: string, head: HeadLook): string {
  if (head.kind === 'unknown')
    throw new Problem('repository-unproven', `git cannot tell which commit ${repository} is at: ${head.why}`, { hint: `git -C ${repository} status` })
  if (head.commit === null)
    throw new Problem('repository-unborn', `${repository} has no commit yet, so no branch can be made for the work`, {
      hint: 'commit something first',
    })
  return repository
}

/** It gets its prompt without a terminal, so it must be able to take it so. */
function agentFor(world: World, { harness: asked, budget }: WorkAddition, usual: string | undefined): Harness {
  const name = asked ?? usual
  const harness = name === undefined ? onlyInstalled(world) : namedAgent(world, name)
  if (harness.speech.headless === null)
    throw new Problem('prompt-unsupported', `${harness.title} takes no prompt without a terminal, so it cannot work on a request`, {
      hint: 'name another agent: holdfast work add --harness H …',
    })
  const trouble = budget === undefined ? null : neverCounted(harness)
  if (trouble !== null) throw trouble
  return harness
}

/** Which of several is meant is for a person to say. */
function onlyInstalled(world: World): Harness {
  const able = world.harnesses().filter((one) => one.name !== 'generic' && one.speech.headless !== null && installedAgent(world, one) !== null)
  const [only, ...more] = able
  if (only === undefined)
    throw new Problem('agent-not-installed', 'no agent that takes a prompt without a terminal is on PATH', {
      hint: 'install one, or describe yours in config.toml and name it: holdfast work add --harness H …',
    })
  if (more.length > 0)
    throw new Problem('option-missing', `several agents could work on it: ${able.map(({ name }) => name).join(', ')}`, {
      hint: `name one: holdfast work add --harness ${only.name} …; or for all requests, in config.toml: [work] agent = ["${only.name}"]`,
    })
  return only
}

function namedAgent(world: World, name: string): Harness {
  const named = world.harnesses().find((one) => one.name === name && name !== 'generic')
  if (named === undefined) {
    const known = world.harnesses().flatMap((one) => (one.name === 'generic' || one.speech.headless === null ? [] : [one.name]))
    throw new Problem('agent-unknown', `Holdfast does not know an agent called ${JSON.stringify(name)}`, {
      hint: `it knows ${known.join(', ')}; others can be described in config.toml`,
    })
  }
  if (installedAgent(world, named) === null)
    throw new Problem('agent-not-installed', `${named.title} is not installed: there is no ${named.commands.join(' or ')} on PATH`, {
      hint: 'install it, or name another agent: holdfast work add --harness H …',
    })
  return named
}

/** What was blocked or cancelled will never be done. */
function refuseHopeless(before: readonly WorkRequest[]): void {
  const over = before.find(({ state }) => state === 'blocked' || state === 'cancelled')
  if (over !== undefined)
    throw new Problem('request-over', `nothing can come after ${over.id}: it is ${over.state}, and will never be done`, {
      hint: `holdfast work rerun ${over.id} makes a new request of it, which others can come after`,
    })
}
