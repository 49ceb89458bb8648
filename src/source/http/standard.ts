import type { HttpProfile } from './profile.ts'

/** The protocol of docs/reference/http-source.md. */
export const STANDARD: HttpProfile = {
  name: 'standard',
  routes: {
    list: { method: 'GET', path: 'requests?state=open&cursor={cursor}' },
    look: { method: 'GET', path: 'requests/{item}' },
    claim: { method: 'POST', path: 'requests/{item}/claim', body: { host: '$host', worker: '$worker' }, keyed: true },
    heartbeat: { method: 'POST', path: 'requests/{item}/heartbeat', body: { token: '$token' } },
    feedback: { method: 'GET', path: 'requests/{item}/feedback' },
    report: {
      method: 'POST',
      path: 'requests/{item}/reports',
      body: {
        token: '$token',
        sequence: '$sequence',
        at: '$at',
        state: '$state',
        reason: '$reason',
        summary: '$summary',
        attempt: '$attempt',
        result: { branch: '$branch', commit: '$commit', pull_request: '$pullRequest' },
      },
      keyed: true,
    },
    receipt: { method: 'POST', path: 'requests/{item}/feedback/{feedback}', body: { state: '$state', why: '$why' }, keyed: true },
  },
  list: { items: 'requests', next: 'next' },
  item: {
    id: 'id',
    title: 'title',
    text: 'text',
    url: 'url',
    repository: 'repository',
    branch: 'branch',
    labels: 'labels',
    priority: 'priority',
    blockedBy: 'blocked_by',
    state: 'state',
    reason: 'reason',
    createdAt: 'created_at',
  },
  open: ['open'],
  closed: ['closed'],
  claim: { token: 'token', leaseSeconds: 'lease_seconds' },
  feedback: { items: 'feedback', id: 'id', author: 'author', text: 'text', at: 'at' },
  states: {},
}
