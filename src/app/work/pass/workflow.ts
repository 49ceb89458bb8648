import { judgeWorkflow, parseTokens, readWorkflow, WORKFLOW_SAMPLE } from '../../../decide/index.ts'
import { WORKFLOW_DEFAULT, WORKFLOW_FILE, type Workflow } from '../../../model/index.ts'
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
