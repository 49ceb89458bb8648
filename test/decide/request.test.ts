import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextStep, type RequestFacts, type RequestRun } from '../../src/decide/index.ts'
import type { RequestReason, WorkRequest } from '../../src/model/index.ts'
import { REQUEST_TABLE } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { aRequest, branch, FACTS, live, over, RESULT } from './work.ts'

const BOUNDS = { attempts: 3, finishMs: 1000 }
const step = (request: Partial<WorkRequest>, facts: Partial<RequestFacts> = {}, order: Partial<WorkRequest['order']> = {}) =>
  nextStep(aRequest(request, order), { ...FACTS, ...facts }, BOUNDS)
const CLOSING = { reason: 'source-closed', summary: 'its issue was closed', by: 'github', at: 5 } as const

describe('a claimed request', () => {
  const claimed = { state: 'claimed', run: null } as const
  verifies('unknown', 'a claim whose worker cannot be judged is never requeued', () => {
    expect(step(claimed, { claimant: 'unknown' }).kind).toBe('keep')
    expect(step({ ...claimed, closing: CLOSING }, { claimant: 'unknown' }).kind).toBe('keep')
  })
  test('is kept while its worker lives', () => expect(step(claimed, { claimant: 'alive' }).kind).toBe('keep'))
  test('goes back when its worker is gone and nothing ran', () => expect(step(claimed)).toMatchObject({ kind: 'release', counts: true }))
  test('is blocked when that was its last attempt', () =>
    expect(step({ ...claimed, attempt: 3 })).toMatchObject({ kind: 'end', ending: { state: 'blocked', reason: 'attempts' } }))
  verifies('one-end', 'a run that is on record takes over the claim, whatever became of the worker', () => {
    for (const claimant of ['alive', 'gone', 'unknown'] as const) {
      expect(step(claimed, { claimant, run: live() })).toEqual({ kind: 'started', run: 'r1' })
      expect(step({ ...claimed, attempt: 3 }, { claimant, run: over() })).toEqual({ kind: 'started', run: 'r1' })
    }
  })
  test('is cancelled when it was closed before anything ran', () =>
    expect(step({ ...claimed, closing: CLOSING })).toMatchObject({ kind: 'end', ending: { state: 'cancelled', reason: 'source-closed' } }))
})

describe('a running request', () => {
  const running = { state: 'running' } as const
  verifies('unknown', 'an unknown run is kept, and never requeued or finished', () => {
    for (const attempt of [1, 3])
      for (const result of [null, RESULT]) expect(step({ ...running, attempt, result }, { run: live('unknown'), now: 10_000_000 }).kind).toBe('keep')
  })
  test('is stopped when it was closed', () => expect(step({ ...running, closing: CLOSING }, { run: live() }).kind).toBe('stop'))
  test('is stopped some time after its result was reported', () => {
    expect(step({ ...running, result: RESULT }, { run: live(), now: 60 }).kind).toBe('keep')
    expect(step({ ...running, result: RESULT }, { run: live(), now: 1051 }).kind).toBe('stop')
  })
  test('follows its session to a new run', () => expect(step(running, { run: live('alive', 'r2') })).toEqual({ kind: 'started', run: 'r2' }))
  test('looks at its branch before it says anything of its result', () => expect(step(running, { run: over() }).kind).toBe('look-at-branch'))
  verifies('unknown', 'a look that failed never means that there is no result', () => {
    for (const run of [over(), over({ state: 'failed', exit: { code: 1, signal: null } }), over({ state: 'lost', exit: null })])
      expect(step(running, { run, branch: { kind: 'unknown', why: 'git took too long' } })).toEqual({ kind: 'retry-look', why: 'git took too long' })
  })

  const killed = { state: 'failed', exit: { code: 137, signal: 'SIGKILL' } } as const
  const ends: readonly [what: string, run: RequestRun, commits: number, reported: boolean, then: string][] = [
    ['exit 0 with commits', over(), 2, false, 'done commits'],
    ['exit 0 with a report', over(), 0, true, 'done reported'],
    ['exit 0 without a result', over(), 0, false, 'blocked no-result'],
    ['exit 3 without a result', over({ state: 'failed', exit: { code: 3, signal: null } }), 0, false, 'blocked no-result'],
    ['exit 3 with commits', over({ state: 'failed', exit: { code: 3, signal: null } }), 1, false, 'blocked agent-failed'],
    ['exit 3 with a report', over({ state: 'failed', exit: { code: 3, signal: null } }), 1, true, 'done reported'],
    ['killed', over(killed), 1, false, 'release'],
    ['lost', over({ state: 'lost', exit: null }), 0, false, 'release'],
    ['lost after a report', over({ state: 'lost', exit: null }), 0, true, 'done reported'],
    ['superseded', over({ state: 'superseded', by: 'bob@box' }), 0, false, 'release'],
    ['stopped by a person', over({ state: 'stopped', by: 'bob@box' }), 3, false, 'blocked stopped'],
    ['its time is over', over({ state: 'stopped', by: 'timeout' }), 3, false, 'blocked timeout'],
    ['its tokens are used up', over({ state: 'stopped', by: 'budget' }), 3, false, 'blocked budget'],
    ['never began', over({ state: 'failed', exit: null, harness: null }), 0, false, 'release'],
  ]
  test.each(ends)('%s', (_what, run, commits, reported, then) => {
    const next = step({ ...running, result: reported ? RESULT : null }, { run, branch: branch(commits) })
    expect(next.kind === 'end' ? `${next.ending.state} ${next.ending.reason}` : next.kind).toBe(then)
  })
  test('the third attempt is the last', () =>
    expect(step({ ...running, attempt: 3 }, { run: over(killed), branch: branch(0) })).toMatchObject({ kind: 'end', ending: { reason: 'attempts' } }))
  test('a branch with commits is published first, once for each head', () => {
    const remote = branch(1, { remote: 'origin' })
    expect(step(running, { run: over(), branch: remote }).kind).toBe('publish')
    expect(step(running, { run: over(), branch: remote }, { publish: 'none' }).kind).toBe('end')
    expect(step({ ...running, result: { ...RESULT, published: 'origin' } }, { run: over(), branch: remote }).kind).toBe('end')
    expect(step({ ...running, result: { ...RESULT, published: 'origin', head: 'old' } }, { run: over(), branch: remote }).kind).toBe('publish')
  })
  test('a result that is to be reviewed waits for that', () =>
    expect(step(running, { run: over(), branch: branch(1) }, { review: true })).toEqual({ kind: 'pause', cause: 'review' }))
  test('feedback that waits goes before the end, also where there is no result', () => {
    for (const commits of [0, 1])
      expect(step({ ...running, pending: 1 }, { run: over(), branch: branch(commits) })).toEqual({ kind: 'pause', cause: 'feedback' })
  })
  test('the rework limit ends the loop', () =>
    expect(step({ ...running, pending: 1, rework: 3 }, { run: over(), branch: branch(1) })).toMatchObject({
      kind: 'end',
      ending: { state: 'blocked', reason: 'rework-limit' },
    }))
})

describe('a waiting request', () => {
  const waiting = (cause: WorkRequest['cause'], more: Partial<WorkRequest> = {}) => ({ state: 'waiting', cause, ...more }) as const
  test('goes on when feedback comes', () => {
    for (const cause of ['review', 'feedback'] as const) {
      expect(step(waiting(cause)).kind).toBe('keep')
      expect(step(waiting(cause, { pending: 1 }))).toMatchObject({ kind: 'due', rework: true })
      expect(step(waiting(cause, { pending: 1, rework: 3 }))).toMatchObject({ kind: 'end', ending: { reason: 'rework-limit' } })
    }
  })
  test('goes on when its time has come', () => {
    expect(step(waiting('limit', { dueAt: 101 })).kind).toBe('keep')
    expect(step(waiting('limit', { dueAt: 100 }))).toMatchObject({ kind: 'due', rework: false })
    expect(step(waiting('publish', { dueAt: 100 })).kind).toBe('publish')
  })
  const after: readonly [states: readonly (WorkRequest['state'] | null)[], then: string][] = [
    [['done', 'done'], 'due'],
    [['done', 'running'], 'keep'],
    [['running', 'blocked'], 'end'],
    [['cancelled'], 'end'],
    [[null], 'end'],
  ]
  test.each(after)('after %j', (states, then) =>
    expect(step(waiting('dependency'), { after: states.map((state, at) => ({ id: `w${at}`, state })) }).kind).toBe(then),
  )
  test('is over when it is closed', () =>
    expect(step(waiting('review', { closing: CLOSING, pending: 2 }))).toMatchObject({ kind: 'end', ending: { state: 'cancelled' } }))
})

const requests = fc.record({
  state: fc.constantFrom('queued', 'claimed', 'running', 'waiting', 'done', 'blocked', 'cancelled' as const),
  cause: fc.constantFrom('review', 'feedback', 'limit', 'dependency', 'publish', null),
  attempt: fc.nat(4),
  rework: fc.nat(4),
  pending: fc.nat(2),
  closing: fc.constantFrom(null, CLOSING),
  result: fc.constantFrom(null, RESULT, { ...RESULT, kind: 'commits' as const, published: 'origin' }),
  dueAt: fc.constantFrom(null, 1, 1000),
  run: fc.constantFrom(null, 'r1'),
})
const runs: fc.Arbitrary<RequestRun> = fc.oneof(
  fc.constantFrom<RequestRun>({ kind: 'none' }, live(), live('unknown'), live('alive', 'r2')),
  fc
    .record({
      state: fc.constantFrom('completed', 'failed', 'stopped', 'superseded', 'lost' as const),
      by: fc.constantFrom('keeper', 'bob@box', 'timeout', 'budget', 'worker'),
      exit: fc.constantFrom(null, { code: 0, signal: null }, { code: 7, signal: null }, { code: 137, signal: 'SIGKILL' }),
    })
    .map((more) => over(more)),
)
const facts = fc.record({
  now: fc.constantFrom(10, 500, 100_000),
  run: runs,
  claimant: fc.constantFrom('alive', 'gone', 'unknown' as const),
  branch: fc.constantFrom(null, branch(0), branch(2, { remote: 'origin' }), { kind: 'unknown' as const, why: 'EIO' }),
  after: fc.constantFrom([], [{ id: 'w1', state: 'done' as const }], [{ id: 'w1', state: null }]),
})

const EVENT = { started: 'started', release: 'released', pause: 'paused', due: 'due' } as const

verifies('one-end', 'whatever is seen of a request, its next step is one that the table takes, and an end has a typed reason', () => {
  fc.assert(
    fc.property(requests, facts, (request, seen) => {
      const next = step(request, seen)
      const event = next.kind === 'end' ? next.ending.state : next.kind in EVENT ? EVENT[next.kind as keyof typeof EVENT] : null
      if (event !== null) expect(REQUEST_TABLE[request.state][event], JSON.stringify(next)).not.toBe('refused')
      if (next.kind === 'end') expect(next.ending.reason satisfies RequestReason).toBeTruthy()
    }),
    { seed: 20, numRuns: 3000 },
  )
})

verifies('unknown', 'nothing unknown ends or requeues a request', () => {
  fc.assert(
    fc.property(requests, facts, (request, seen) => {
      const isUnknown =
        (request.state === 'claimed' && seen.claimant !== 'gone' && seen.run.kind === 'none') ||
        (request.state === 'running' && seen.run.kind === 'live') ||
        (request.state === 'running' &&
          seen.run.kind === 'ended' &&
          request.run === 'r1' &&
          seen.branch?.kind === 'unknown' &&
          request.closing === null)
      if (isUnknown) expect(['end', 'release', 'pause']).not.toContain(step(request, seen).kind)
    }),
    { seed: 21, numRuns: 3000 },
  )
})
