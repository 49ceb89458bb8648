import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RunEvent, RunState } from '../../src/model/index.ts'
import { END_STATES, LIVE_STATES, RUN_EVENTS, RUN_TABLE, statesThatTake } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

const STATES: readonly RunState[] = [...LIVE_STATES, ...END_STATES]

test('the table lists every state and every event, and nothing else', () => {
  expect(Object.keys(RUN_TABLE).sort()).toEqual([...STATES].sort())
  for (const state of STATES) expect(Object.keys(RUN_TABLE[state]).sort(), state).toEqual([...RUN_EVENTS].sort())
})

test('what follows is a state, or refused', () => {
  for (const state of STATES) for (const event of RUN_EVENTS) expect([...STATES, 'refused'], `${state} ${event}`).toContain(RUN_TABLE[state][event])
})

describe('live states', () => {
  const cases: readonly [state: RunState, event: RunEvent, next: string][] = [
    ['starting', 'recorded', 'running'],
    ['starting', 'asked', 'stopping'],
    ['starting', 'exited', 'refused'],
    ['running', 'recorded', 'refused'],
    ['running', 'asked', 'stopping'],
    ['running', 'exited', 'stopping'],
    ['stopping', 'recorded', 'refused'],
    ['stopping', 'asked', 'stopping'],
    ['stopping', 'exited', 'stopping'],
  ]
  test.each(cases)('%s + %s → %s', (state, event, next) => expect(RUN_TABLE[state][event]).toBe(next))

  verifies('gate', 'a run that was asked to end is never recorded as running, so its gate stays closed', () => {
    expect(statesThatTake('recorded')).toEqual(['starting'])
  })

  verifies('evidence', 'what never ran cannot have completed', () => expect(RUN_TABLE.starting.completed).toBe('refused'))

  test('every live state takes every other ending, and becomes it', () => {
    for (const state of LIVE_STATES) {
      for (const end of END_STATES) if (state !== 'starting' || end !== 'completed') expect(RUN_TABLE[state][end], `${state} ${end}`).toBe(end)
    }
  })
})

describe('terminal states', () => {
  verifies('final', 'every terminal state refuses every event', () => {
    for (const state of END_STATES) for (const event of RUN_EVENTS) expect(RUN_TABLE[state][event], `${state} ${event}`).toBe('refused')
  })

  verifies('final', 'whatever is written, and in whichever order, the first ending stands', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...RUN_EVENTS), { maxLength: 30 }), (events) => {
        let state: RunState = 'starting'
        let end: RunState | null = null
        for (const event of events) {
          const next: RunState | 'refused' = RUN_TABLE[state][event]
          if (next !== 'refused') state = next
          if (end !== null) expect(state).toBe(end)
          if (END_STATES.some((terminal) => terminal === state)) end = state
        }
      }),
    )
  })
})

describe('statesThatTake', () => {
  const cases: readonly [event: RunEvent, states: readonly RunState[]][] = [
    ['recorded', ['starting']],
    ['asked', ['starting', 'running', 'stopping']],
    ['exited', ['running', 'stopping']],
    ['completed', ['running', 'stopping']],
    ['failed', ['starting', 'running', 'stopping']],
    ['stopped', ['starting', 'running', 'stopping']],
    ['superseded', ['starting', 'running', 'stopping']],
    ['lost', ['starting', 'running', 'stopping']],
  ]
  test.each(cases)('%s is taken by %s', (event, states) => expect(statesThatTake(event)).toEqual(states))
  test('every event is in the list above', () => expect(cases.map(([event]) => event)).toEqual([...RUN_EVENTS]))
})
