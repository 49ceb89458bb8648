import type { RequestFacts, RequestRun } from '../../src/decide/index.ts'
import type { BranchLook, Feedback, WorkOrder, WorkRequest, WorkResult } from '../../src/model/index.ts'
import { ended } from './build.ts'

export const ORDER: WorkOrder = {
  title: 'fix the login',
  text: 'fix the login',
  repo: '/repo',
  harness: 'claude',
  priority: null,
  labels: {},
  after: [],
  budget: null,
  timeoutMs: null,
  publish: 'branch',
  review: false,
  reworkLimit: 3,
  source: null,
  from: null,
  by: 'ann@box',
}

export const aRequest = (more: Partial<WorkRequest> = {}, order: Partial<WorkOrder> = {}): WorkRequest => ({
  id: 'waaaaa',
  order: { ...ORDER, ...order },
  state: 'queued',
  cause: null,
  reason: null,
  summary: null,
  token: 1,
  attempt: 1,
  rework: 0,
  claimant: null,
  session: 'work-waaaaa',
  seenEpoch: 0,
  run: 'r1',
  dir: '/home/worktrees/repo-waaaaa',
  branch: 'holdfast/waaaaa',
  base: 'abc',
  result: null,
  closing: null,
  trouble: null,
  dueAt: null,
  createdAt: 1,
  updatedAt: 1,
  endedAt: null,
  pending: 0,
  ...more,
})

export const RESULT: WorkResult = {
  kind: 'reported',
  text: 'done it',
  by: 'agent',
  branch: 'holdfast/waaaaa',
  commits: 1,
  head: 'def',
  published: null,
  at: 50,
}

export const FACTS: RequestFacts = { now: 100, run: { kind: 'none' }, claimant: 'gone', branch: null, after: [] }

export const live = (liveness: 'alive' | 'unknown' = 'alive', id = 'r1'): RequestRun => ({ kind: 'live', id, liveness, why: null })
export const over = (more: Parameters<typeof ended>[0] = {}): RequestRun => ({ kind: 'ended', run: ended({ id: 'r1', ...more }) })
export const branch = (commits: number, more: Partial<Extract<BranchLook, { kind: 'seen' }>> = {}): BranchLook => ({
  kind: 'seen',
  head: 'def',
  commits,
  remote: null,
  ...more,
})

export const feedback = (more: Partial<Feedback> = {}): Feedback => ({
  id: 'f1',
  seq: 1,
  request: 'waaaaa',
  state: 'delivering',
  text: 'please add a test',
  by: 'ann@box',
  key: null,
  receipt: { way: 'run', run: null, epoch: 4, message: null, why: '' },
  at: 1,
  updatedAt: 1,
  ...more,
})
