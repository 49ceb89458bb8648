import { describe, expect, test } from 'vitest'
import { type ExplainFacts, explain } from '../../../src/decide/index.ts'
import type { Feedback, WorkRequest } from '../../../src/model/index.ts'
import { REQUEST_REASONS } from '../../../src/model/request.ts'
import { verifies } from '../../requirements.ts'
import { aRequest, live, over, RESULT } from '../work.ts'

const RUNS = { kind: 'runs', what: 'the daemon (pid 9)', trouble: null } as const
const NOBODY = { kind: 'none', why: 'there is no daemon' } as const
const LATER = 1_700_000_060_000

const explained = (request: Partial<WorkRequest>, facts: Partial<ExplainFacts> = {}, order: Partial<WorkRequest['order']> = {}) => {
  const { because, next } = explain({
    now: 1_700_000_000_000,
    request: aRequest(request, order),
    followedBy: null,
    feedback: [],
    after: [],
    turn: null,
    worker: RUNS,
    run: { kind: 'none' },
    claimant: 'gone',
    repoBlock: null,
    ...facts,
  })
  return { because: because.join(' | '), next: next.command }
}

describe('a queued request', () => {
  const queued = { state: 'queued', run: null } as const
  test('without a worker, how to have one', () =>
    expect(explained(queued, { worker: NOBODY, turn: { kind: 'now' } })).toEqual({
      because: 'it is in the queue | nothing is in its way | no worker runs: there is no daemon',
      next: 'holdfast daemon start',
    }))
  test('with a worker, that nothing is in its way', () =>
    expect(explained(queued, { turn: { kind: 'now' } })).toEqual({
      because: 'it is in the queue | nothing is in its way | the daemon (pid 9) works on requests',
      next: 'holdfast work show waaaaa',
    }))
  test('with a worker that fails, its trouble', () =>
    expect(explained(queued, { turn: { kind: 'now' }, worker: { ...RUNS, trouble: 'disk full' } })).toMatchObject({
      because: expect.stringContaining('fails: disk full'),
      next: 'holdfast daemon status',
    }))
  test('that limits are reached, and which', () =>
    expect(explained(queued, { turn: { kind: 'later', why: 'limit', until: null, what: '3 of 3 requests run' } })).toMatchObject({
      because: expect.stringContaining('3 of 3 requests run | it begins when another one is over'),
      next: 'holdfast work ls',
    }))
  test('that it failed, and when it is tried again', () => {
    const trouble = { step: 'start', why: 'no network', times: 2, at: 1 }
    const turn = { kind: 'later', why: 'not-due', until: LATER, what: 'w' } as const
    const { because, next } = explained({ ...queued, trouble }, { turn })
    expect(because).toContain('start failed 2 times: no network | it is tried again in 60 s, after 2023-11-14T22:14:20.000Z')
    expect(next).toBe('holdfast work retry waaaaa')
  })
  test('that its repository is blocked, before all else', () =>
    expect(
      explained(queued, {
        turn: { kind: 'now' },
        worker: NOBODY,
        repoBlock: { why: 'WORKFLOW.md is new', hint: 'allow it: holdfast work trust /repo' },
      }),
    ).toEqual({
      because: 'it is in the queue | WORKFLOW.md is new',
      next: 'holdfast work trust /repo',
    }))
})

describe('a claimed or running request', () => {
  const claimed = { state: 'claimed', run: null } as const
  verifies('unknown', 'what cannot be told is said so, and nothing is promised', () => {
    expect(explained(claimed, { claimant: 'unknown' })).toMatchObject({ because: expect.stringContaining('cannot be told'), next: 'holdfast doctor' })
    expect(explained({ state: 'running' }, { run: live('unknown') })).toMatchObject({
      because: expect.stringContaining('neither ended nor begun again'),
    })
  })
  test('whether its worker lives', () => {
    expect(explained(claimed, { claimant: 'alive' }).because).toContain('its agent is being started')
    expect(explained(claimed, { worker: NOBODY })).toMatchObject({ because: expect.stringContaining('puts it back'), next: 'holdfast daemon start' })
  })
  test('its agent, its attempt and its feedback', () => {
    expect(explained({ state: 'running', attempt: 2, pending: 1 }, { run: live() })).toEqual({
      because: 'its agent is at work | it is attempt 2 | feedback on its way to the agent: 1',
      next: 'holdfast logs work-waaaaa',
    })
    expect(explained({ state: 'running', result: RESULT }, { run: live() }).because).toContain('comes to its end')
  })
  test('that its run has ended and nobody has recorded the outcome', () =>
    expect(explained({ state: 'running' }, { run: over(), worker: NOBODY })).toMatchObject({
      because: expect.stringContaining('a worker records the outcome | no worker runs'),
      next: 'holdfast daemon start',
    }))
  test('that somebody wants it ended', () =>
    expect(
      explained({ state: 'running', closing: { reason: 'cancelled', summary: 'cancelled by ann', by: 'ann', at: 1 } }, { run: live() }),
    ).toMatchObject({
      because: expect.stringContaining('it is being ended: cancelled by ann | its agent has not ended yet'),
      next: 'holdfast work cancel waaaaa',
    }))
})

describe('a waiting request', () => {
  const waiting = { state: 'waiting', dueAt: LATER } as const
  test('each cause has its own next command', () => {
    expect(explained({ ...waiting, cause: 'review', result: RESULT })).toEqual({
      because: 'it waits for your review | its result: done it | 1 commit on holdfast/waaaaa',
      next: 'holdfast work finish waaaaa',
    })
    expect(explained({ ...waiting, cause: 'feedback' }).next).toBe('holdfast feedback add waaaaa TEXT')
    expect(explained({ ...waiting, cause: 'review', pending: 2 }).because).toContain('feedback for its next run: 2')
    expect(explained({ ...waiting, cause: 'limit', summary: 'limited' })).toMatchObject({
      because: expect.stringContaining('limited | it goes on in 60 s'),
      next: 'holdfast work retry waaaaa',
    })
    expect(explained({ ...waiting, cause: 'limit', dueAt: null }).because).toContain('it goes on when a person says so')
    expect(explained({ ...waiting, cause: 'publish' }).because).toContain('is not published yet')
  })
  test('a dependency leads to the request that is in the way', () =>
    expect(
      explained(
        { ...waiting, cause: 'dependency' },
        {
          after: [
            { id: 'wa', state: 'done' },
            { id: 'wb', state: 'running' },
          ],
        },
      ),
    ).toEqual({
      because: 'it comes after wb, which is running',
      next: 'holdfast work explain wb',
    }))
})

describe('a request that is over', () => {
  test('every reason has a next command', () => {
    for (const reason of REQUEST_REASONS)
      for (const state of ['done', 'blocked', 'cancelled'] as const) {
        const { because, next } = explained({ state, reason, summary: 'because', endedAt: 5 })
        expect(because).toBe(`it is ${state} (${reason}), and that is final | because`)
        expect(next).toMatch(/^(holdfast|git) /)
      }
  })
  test('one that is followed leads on', () =>
    expect(explained({ state: 'blocked', reason: 'no-result', endedAt: 5 }, { followedBy: 'wnew' }).next).toBe('holdfast work explain wnew'))
  test('commits that are only here are brought home', () =>
    expect(explained({ state: 'done', reason: 'commits', result: RESULT, endedAt: 5 }).next).toBe('git -C /repo merge holdfast/waaaaa'))
})

test('feedback that may not have arrived is named', () => {
  const lost: Feedback = {
    id: 'f1',
    seq: 1,
    request: 'waaaaa',
    state: 'undelivered',
    text: 't',
    by: 'b',
    key: null,
    receipt: null,
    at: 1,
    updatedAt: 1,
  }
  expect(explained({ state: 'running' }, { run: live(), feedback: [lost] })).toMatchObject({
    because: expect.stringContaining('feedback f1 may not have reached'),
    next: 'holdfast feedback retry f1',
  })
})
