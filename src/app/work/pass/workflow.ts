import { judgeWorkflow, parseTokens, readWorkflow, WORKFLOW_SAMPLE } from '../../../decide/index.ts'
import { Problem, WORKFLOW_DEFAULT, WORKFLOW_FILE, type Workflow, type WorkflowSource } from '../../../model/index.ts'
import type { World } from '../../world/world.ts'

/** What a repository says about its work. `blocked`: no request of it begins, and the reason. */
export type RepositoryWork =
  | { readonly kind: 'default' | 'allowed'; readonly workflow: Workflow; readonly budget: number | null }
  | { readonly kind: 'blocked'; readonly reason: string; readonly why: string; readonly hint: string }

/** Reads `WORKFLOW.md` of a repository's default branch. It counts only with the content that a person has allowed. */
export async function workOfRepository(world: Pick<World, 'workflows'>, repo: string): Promise<RepositoryWork> {
  const source = await world.workflows.read(repo)
  const standing = judgeWorkflow(source, world.workflows.trusted(repo), repo)
  if (standing.kind === 'default') return { kind: 'default', workflow: WORKFLOW_DEFAULT, budget: null }
  if (standing.kind === 'blocked') return { ...standing, hint: hintOf(standing.reason, repo) }
  const read = readText(world, standing.text)
  if ('trouble' in read)
    return {
      kind: 'blocked',
      reason: 'workflow-broken',
      why: `${WORKFLOW_FILE} of ${repo} is broken: ${read.trouble}`,
      hint: `correct it on the default branch, then: holdfast work trust ${repo}`,
    }
  return { kind: 'allowed', ...read }
}

const hintOf = (reason: string, repo: string): string =>
  reason === 'workflow-unknown' ? `look: holdfast work check ${repo}` : `look: holdfast work check ${repo}; allow it: holdfast work trust ${repo}`

type Read = { readonly workflow: Workflow; readonly budget: number | null }

/** The whole file, with its template tried: a broken one is found before an agent starts. */
function readText({ workflows }: Pick<World, 'workflows'>, text: string): Read | { readonly trouble: string } {
  try {
    const { settings, prompt } = workflows.parse(text)
    const read = readWorkflow(settings, prompt)
    if ('trouble' in read) return read
    const { workflow } = read
    if (workflow.prompt !== '') for (const values of WORKFLOW_SAMPLE) workflows.render(workflow.prompt, values)
    const budget = workflow.limits.budget === null ? null : parseTokens(workflow.limits.budget)
    if (workflow.limits.budget !== null && budget === null) return { trouble: `holdfast.budget is no number of tokens: ${workflow.limits.budget}` }
    return { workflow, budget }
  } catch (error) {
    return { trouble: (error as Error).message }
  }
}

/** The file as it lies on the default branch, with what stands about it: for `work check` and `work trust`. */
export type WorkflowLook = {
  readonly repo: string
  readonly source: WorkflowSource
  readonly work: RepositoryWork
  readonly read: Read | { readonly trouble: string } | null
}

export async function lookAtWorkflow(world: Pick<World, 'directories' | 'workflows'>, dir: string): Promise<WorkflowLook> {
  const repo = repositoryOf(world, dir)
  const source = await world.workflows.read(repo)
  return { repo, source, work: await workOfRepository(world, repo), read: source.kind === 'found' ? readText(world, source.text) : null }
}

/** A person allows the content that the default branch has now. A broken file is refused, since nothing could begin with it. */
export async function trustWorkflow(world: Pick<World, 'clock' | 'directories' | 'host' | 'user' | 'workflows'>, dir: string): Promise<WorkflowLook> {
  const { repo, source, read } = await lookAtWorkflow(world, dir)
  if (source.kind === 'unknown') throw new Problem('repository-unproven', `${WORKFLOW_FILE} of ${repo} cannot be read: ${source.why}`)
  if (source.kind === 'none' && world.workflows.trusted(repo) === null)
    throw new Problem('workflow-missing', `${repo} has no ${WORKFLOW_FILE} on ${source.branch}, so the defaults hold and nothing needs to be allowed`)
  if (read !== null && 'trouble' in read)
    throw new Problem('workflow-broken', `${WORKFLOW_FILE} of ${repo} is broken: ${read.trouble}`, {
      hint: `correct it, and commit it on the default branch`,
    })
  const by = `${world.user()}@${world.host}`
  if (source.kind === 'none') world.workflows.forget(repo)
  else world.workflows.trust({ repository: repo, sha256: source.sha256, commit: source.commit, at: world.clock.now(), by })
  return lookAtWorkflow(world, repo)
}

/** Requests name the main working tree, so trust does, too. */
function repositoryOf({ directories }: Pick<World, 'directories'>, dir: string): string {
  const found = directories.find(dir).repository
  const main = found === null ? null : (directories.mainWorktree(found.root) ?? found.root)
  if (main !== null) return main
  throw new Problem('repository-missing', `${dir} is in no working tree of a git repository`, { hint: 'holdfast work check DIR' })
}
