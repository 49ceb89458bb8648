import { describe, test } from 'vitest'
import type { Feedback } from '../../src/model/index.ts'
import { cancelledJson, explainedJson, feedbackJson, finishedJson, requestJson, requestStoryJson } from '../../src/show/index.ts'
import { NOW } from '../decide/build.ts'
import { aRequest, RESULT } from '../decide/work.ts'
import { pinned } from './matcher.ts'

const ISO = '2026-01-02T12:00:00.000Z'
const QUEUED = {
  id: 'waaaaa',
  state: 'queued',
  cause: null,
  reason: null,
  summary: null,
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
  followedBy: null,
  by: 'ann@box',
  dir: null,
  branch: 'holdfast/waaaaa',
  base: null,
  token: 0,
  attempt: 0,
  rework: 0,
  session: 'work-waaaaa',
  run: null,
  result: null,
  closing: null,
  trouble: null,
  dueAt: null,
  createdAt: ISO,
  updatedAt: ISO,
  endedAt: null,
  feedback: [],
}
const times = { createdAt: NOW, updatedAt: NOW }
const queued = aRequest({ ...times, token: 0, attempt: 0, run: null, dir: null, base: null })

describe('work ls --json pins', () => {
  test('a request of which nothing is known yet', () =>
    pinned(requestJson({ request: queued, column: 'queued', followedBy: null, feedback: [] }), QUEUED))

  test('a request of which everything is known', () => {
    const feedback: Feedback = {
      id: 'f1',
      seq: 1,
      request: 'waaaaa',
      state: 'delivered',
      text: 'rename it',
      by: 'bob@box',
      key: 'k',
      receipt: { way: 'run', run: 'r1', epoch: 2, message: null, why: 'its next run has it' },
      at: NOW,
      updatedAt: NOW,
    }
    const order = {
      priority: 2,
      labels: { kind: 'bug' },
      after: ['wother'],
      budget: 1000,
      timeoutMs: 60_000,
      review: true,
      source: { name: 'plane', key: 'k1', token: 'secret', url: 'http://x' },
      from: { request: 'wold', how: 'retry' },
    } as const
    const request = aRequest(
      {
        ...times,
        state: 'blocked',
        reason: 'no-result',
        summary: 'it made no commit',
        token: 4,
        attempt: 2,
        rework: 1,
        run: 'r1',
        base: 'abc',
        result: { ...RESULT, at: NOW, published: 'origin' },
        closing: { reason: 'cancelled', summary: 'ann wants it', by: 'ann@box', at: NOW },
        trouble: { step: 'publish', why: 'no network', times: 2, at: NOW },
        dueAt: NOW,
        endedAt: NOW,
      },
      order,
    )
    const said = { id: 'f1', request: 'waaaaa', state: 'delivered', text: 'rename it', by: 'bob@box', key: 'k', way: 'run', run: 'r1' }
    const expected = {
      ...QUEUED,
      state: 'blocked',
      reason: 'no-result',
      summary: 'it made no commit',
      priority: 2,
      labels: { kind: 'bug' },
      after: ['wother'],
      budget: 1000,
      timeoutMs: 60_000,
      review: true,
      source: { name: 'plane', key: 'k1', url: 'http://x' },
      from: { request: 'wold', how: 'retry' },
      followedBy: 'wnew',
      dir: '/home/worktrees/repo-waaaaa',
      base: 'abc',
      token: 4,
      attempt: 2,
      rework: 1,
      run: 'r1',
      result: { kind: 'reported', text: 'done it', by: 'agent', branch: 'holdfast/waaaaa', commits: 1, head: 'def', published: 'origin', at: ISO },
      closing: { reason: 'cancelled', summary: 'ann wants it', by: 'ann@box', at: ISO },
      trouble: { step: 'publish', why: 'no network', times: 2, at: ISO },
      dueAt: ISO,
      endedAt: ISO,
      feedback: [{ ...said, why: 'its next run has it', at: ISO, updatedAt: ISO }],
    }
    const view = { request, column: 'needs-you', followedBy: 'wnew', feedback: [feedback] } as const
    pinned(requestJson(view), expected)
    const event = { seq: 7, request: 'waaaaa', at: NOW, kind: 'added', detail: { by: 'ann@box' } }
    pinned(requestStoryJson({ ...view, story: [event] }), { ...expected, story: [{ seq: 7, at: ISO, kind: 'added', detail: { by: 'ann@box' } }] })
  })
})

describe('work cancel and work finish --json pin', () => {
  const view = { request: queued, column: 'queued', followedBy: null, feedback: [] } as const
  test('the request, and what came of it', () => {
    pinned(cancelledJson({ ...view, kind: 'survivors', why: '2 processes' }), { ...QUEUED, outcome: 'survivors', why: '2 processes' })
    pinned(finishedJson({ ...view, kind: 'accepted' }), { ...QUEUED, outcome: 'accepted' })
  })
})

test('feedback --json pins', () => {
  const said = {
    id: 'f1',
    seq: 1,
    request: 'waaaaa',
    state: 'pending',
    text: 't',
    by: 'ann@box',
    key: null,
    receipt: null,
    at: NOW,
    updatedAt: NOW,
  } as const
  const { seq: _, receipt: __, ...rest } = said
  pinned(feedbackJson(said), { ...rest, way: null, run: null, why: null, at: ISO, updatedAt: ISO })
})

test('work explain --json pins', () => {
  const view = {
    id: 'w1',
    title: 't',
    state: 'waiting',
    cause: 'review',
    reason: null,
    because: ['a', 'b'],
    next: { command: 'holdfast x', does: 'y' },
  } as const
  pinned(explainedJson(view), { ...view, because: ['a', 'b'] })
})
