import { describe, expect, test } from 'vitest'
import type { EventKind, RunState } from '../../src/model/index.ts'
import { END_STATES, exitCode, LIVE_STATES, Problem, type ProblemId } from '../../src/model/index.ts'
import { eventJson, holderFacts, problemJson } from '../../src/show/index.ts'
import { NOW, running } from '../decide/build.ts'
import { pinned } from './matcher.ts'

/** Scripts branch on these numbers. */
describe('exit codes', () => {
  const CODES = { done: 0, badCommand: 64, notFound: 66, unavailable: 69, bug: 70, held: 75, unproven: 76, survivors: 79 }
  test('each meaning has its number', () => pinned(exitCode, CODES))

  const PROBLEMS: readonly [id: ProblemId, error: string, code: number][] = [
    ['option-unknown', 'usage', 64],
    ['session-unknown', 'noSuchSession', 66],
    ['store-busy', 'unavailable', 69],
    ['unexpected-error', 'bug', 70],
    ['owner-alive', 'held', 75],
    ['owner-unproven', 'unproven', 76],
    ['survivors-remain', 'survivors', 79],
  ]
  test.each(PROBLEMS)('the refusal %s names its id, its kind and its code', (id, error, code) => {
    pinned(problemJson(new Problem(id, 'why not')), { error, id, code, message: 'why not', hint: null })
  })
})

describe('a refusal as JSON', () => {
  test('names the holder', () => {
    const holder = holderFacts({ ...running({ detached: true }), pid: 200 })
    const problem = new Problem('owner-alive', 'session s1 is held', {
      hint: 'holdfast stop s1',
      detail: { holder, relation: 'same', why: 'it is alive' },
    })
    pinned(problemJson(problem), {
      error: 'held',
      id: 'owner-alive',
      code: 75,
      message: 'session s1 is held',
      hint: 'holdfast stop s1',
      holder: {
        session: 's1',
        run: 'r000000000001',
        pid: 200,
        since: '2026-01-02T10:57:55.000Z',
        dir: '/home/ann/project',
        host: 'box',
        user: 'ann',
        tty: '/dev/pts/3',
        attach: 'holdfast attach s1',
      },
      relation: 'same',
      why: 'it is alive',
    })
  })
})

/** The words that `state` and `kind` can be. The compiler refuses a table of events with a word too many or too few. */
describe('words', () => {
  test('of a run', () => {
    const states: readonly RunState[] = [...LIVE_STATES, ...END_STATES]
    expect(states).toEqual(['starting', 'running', 'stopping', 'completed', 'failed', 'stopped', 'superseded', 'lost'])
  })
  test('of an event', () => {
    const kinds = {
      claimed: true,
      running: true,
      asked: true,
      exited: true,
      ended: true,
      survivors: true,
      adopted: true,
      shared: true,
      unlocked: true,
      bound: true,
      moved: true,
      conflict: true,
      told: true,
      rebound: true,
      said: true,
      messaged: true,
      daemon: true,
      activity: true,
      refused: true,
      unwatched: true,
    } satisfies Record<EventKind, true>
    for (const kind of Object.keys(kinds) as EventKind[])
      pinned(eventJson({ seq: 7, at: NOW, kind, session: 's1', run: 'r1', epoch: 2, detail: { keeper: 100 } }), {
        seq: 7,
        at: '2026-01-02T12:00:00.000Z',
        kind,
        session: 's1',
        run: 'r1',
        epoch: 2,
        detail: { keeper: 100 },
      })
  })
})
