import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  FEEDBACK_EVENTS,
  FEEDBACK_STATES,
  FEEDBACK_TABLE,
  isOpen,
  OPEN_REQUEST_STATES,
  REQUEST_END_STATES,
  REQUEST_EVENTS,
  REQUEST_TABLE,
  type RequestState,
  requestStatesThatTake,
} from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

const STATES: readonly RequestState[] = [...OPEN_REQUEST_STATES, ...REQUEST_END_STATES]

test('the tables list every state and every event, and nothing else', () => {
  expect(Object.keys(REQUEST_TABLE).sort()).toEqual([...STATES].sort())
  for (const state of STATES) expect(Object.keys(REQUEST_TABLE[state]).sort(), state).toEqual([...REQUEST_EVENTS].sort())
  expect(Object.keys(FEEDBACK_TABLE).sort()).toEqual([...FEEDBACK_STATES].sort())
  for (const state of FEEDBACK_STATES) expect(Object.keys(FEEDBACK_TABLE[state]).sort(), state).toEqual([...FEEDBACK_EVENTS].sort())
})

verifies('final', 'a request that is over refuses every event, and an open one can be ended', () => {
  for (const state of STATES) for (const event of REQUEST_EVENTS) if (!isOpen({ state })) expect(REQUEST_TABLE[state][event]).toBe('refused')
  for (const state of OPEN_REQUEST_STATES) expect([REQUEST_TABLE[state].blocked, REQUEST_TABLE[state].cancelled]).toEqual(['blocked', 'cancelled'])
})

verifies('one-end', 'whatever is written, and in whichever order, the first end of a request stands', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...REQUEST_EVENTS), { maxLength: 30 }), (events) => {
      let state: RequestState = 'queued'
      let end: RequestState | null = null
      for (const event of events) {
        const next: RequestState | 'refused' = REQUEST_TABLE[state][event]
        if (next !== 'refused') state = next
        if (end !== null) expect(state).toBe(end)
        if (!isOpen({ state })) end = state
      }
    }),
    { seed: 20 },
  )
})

verifies('one-owner', 'only a queued request can be claimed, and only a claimed one or its own run started', () => {
  expect(requestStatesThatTake('claimed')).toEqual(['queued'])
  expect(requestStatesThatTake('started')).toEqual(['claimed', 'running'])
})

verifies('final', 'feedback that arrived, or was ignored, is never sent again', () => {
  for (const event of FEEDBACK_EVENTS) expect([FEEDBACK_TABLE.delivered[event], FEEDBACK_TABLE.ignored[event]]).toEqual(['refused', 'refused'])
})
