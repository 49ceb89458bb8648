import type { TemplateValues, WorkRequest } from '../../model/index.ts'

/** The words that a template may use. A value that a request does not have is null, so only a mistyped name is an error. */
export function templateValues(
  request: Pick<WorkRequest, 'id' | 'order' | 'branch' | 'state' | 'attempt' | 'createdAt' | 'updatedAt'>,
): TemplateValues {
  const { id, order, branch, state, attempt } = request
  return {
    issue: {
      id,
      identifier: order.source?.key ?? id,
      title: order.title,
      description: order.text,
      priority: order.priority,
      state,
      branch_name: branch,
      url: order.source?.url ?? null,
      labels: Object.entries(order.labels).map(([key, value]) => `${key}=${value}`),
      blocked_by: order.after,
      created_at: new Date(request.createdAt).toISOString(),
      updated_at: new Date(request.updatedAt).toISOString(),
    },
    attempt: attempt > 1 ? attempt : null,
  }
}

const SAMPLE: Parameters<typeof templateValues>[0] = {
  id: 'w0123456789ab',
  order: {
    title: 'A title',
    text: 'A text.',
    repo: '/repository',
    harness: 'claude',
    priority: 1,
    labels: { kind: 'sample' },
    after: [],
    budget: null,
    timeoutMs: null,
    publish: 'none',
    review: false,
    reworkLimit: 3,
    source: { name: 'sample', key: 'SAMPLE-1', url: 'https://example.org/1' },
    from: null,
    by: 'sample',
  },
  branch: 'holdfast/w0123456789ab',
  state: 'queued',
  attempt: 1,
  createdAt: 0,
  updatedAt: 0,
}

/** A template is tried with a request at its first attempt, and with one at a later attempt. */
export const WORKFLOW_SAMPLE: readonly TemplateValues[] = [templateValues(SAMPLE), templateValues({ ...SAMPLE, attempt: 2 })]
