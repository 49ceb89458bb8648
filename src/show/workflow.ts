import { WORKFLOW_FILE, type Workflow, type WorkflowSource } from '../model/index.ts'

type Look = {
  readonly repo: string
  readonly source: WorkflowSource
  readonly work:
    | { readonly kind: 'default' | 'allowed' }
    | { readonly kind: 'blocked'; readonly reason: string; readonly why: string; readonly hint: string }
  readonly read: { readonly workflow: Workflow } | { readonly trouble: string } | null
}

/** What a repository's file would run on this machine, and whether it may. */
export function workflowText({ repo, source, work, read }: Look): readonly string[] {
  const file = source.kind === 'found' ? [`${WORKFLOW_FILE} of ${repo}: ${source.branch} at ${source.commit.slice(0, 12)}`] : []
  const standing =
    work.kind === 'blocked'
      ? [`no request of this repository begins: ${work.why}`, work.hint]
      : [work.kind === 'allowed' ? 'it is allowed: requests of this repository begin' : `${repo} has no ${WORKFLOW_FILE}: the defaults hold`]
  return [...file, ...(read === null ? [] : 'trouble' in read ? [`it is broken: ${read.trouble}`] : runsText(read.workflow)), ...standing]
}

function runsText({ hooks, agent, limits, publish, unused }: Workflow): string[] {
  const scripts = (
    [
      ['after_create', hooks.afterCreate],
      ['before_run', hooks.beforeRun],
      ['after_run', hooks.afterRun],
      ['before_remove', hooks.beforeRemove],
    ] as const
  ).flatMap(([name, script]) => (script === null ? [] : [`it would run the hook ${name}: ${script.trim()}`]))
  return [
    ...scripts,
    ...(agent === null ? [] : [`it would start the agent: ${agent.join(' ')}`]),
    `limits: ${limits.attempts} attempts, ${limits.rework} rounds of feedback${limits.atOnce === null ? '' : `, ${limits.atOnce} at once`}${limits.budget === null ? '' : `, ${limits.budget} tokens`}`,
    ...(publish === null ? [] : [`publish: ${publish}`]),
    ...unused.map(({ key, why }) => `Holdfast does not use ${key}: ${why}`),
  ]
}

export const workflowJson = ({ repo, source, work, read }: Look): Record<string, unknown> => ({
  repo,
  file: source.kind,
  branch: source.kind === 'unknown' ? null : source.branch,
  commit: source.kind === 'unknown' ? null : source.commit,
  standing: work.kind,
  reason: work.kind === 'blocked' ? work.reason : null,
  why: work.kind === 'blocked' ? work.why : null,
  trouble: read !== null && 'trouble' in read ? read.trouble : null,
  workflow: read !== null && 'workflow' in read ? read.workflow : null,
})
