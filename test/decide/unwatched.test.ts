import { describe, expect, test } from 'vitest'
import { isUnwatched, unwatchedTime, type Watchers } from '../../src/decide/index.ts'
import { UNWATCHED_AFTER_MS, type UnwatchedTime } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

const watched: Watchers = { keeperSeenAt: null, agentEndedAt: null, endedAt: null, activity: null }
const idle = (more: Partial<NonNullable<Watchers['activity']>> = {}): Watchers => ({
  ...watched,
  activity: { state: 'idle', since: 40, how: 'hook', ...more },
})

describe('since when nobody watches', () => {
  const cases: readonly [string, Watchers, UnwatchedTime | null][] = [
    ['its keeper and its agent are there', watched, null],
    ['its keeper is gone', { ...watched, keeperSeenAt: 10 }, { why: 'keeper-gone', since: 10 }],
    ['its agent is gone', { ...watched, agentEndedAt: 20 }, { why: 'agent-gone', since: 20 }],
    ['both are gone', { ...watched, keeperSeenAt: 10, agentEndedAt: 20 }, { why: 'agent-gone', since: 20 }],
    ['its run is over on record', { ...watched, agentEndedAt: 20, endedAt: 30 }, { why: 'over', since: 30 }],
    ['its agent waits for the next prompt', idle(), { why: 'idle', since: 40 }],
    ['its agent works', idle({ state: 'busy' }), null],
    ['its agent asks a person', idle({ state: 'waiting' }), null],
  ]
  for (const [what, watchers, wanted] of cases) test(what, () => expect(unwatchedTime(watchers)).toEqual(wanted))

  verifies('unknown', 'an agent that is only silent, or idle since nobody knows when, is not said to be away', () => {
    expect(unwatchedTime(idle({ how: 'output' }))).toBeNull()
    expect(unwatchedTime(idle({ since: null }))).toBeNull()
  })
})

test('what is spent a moment after that was still asked for', () => {
  const [gone, away] = [
    { why: 'agent-gone', since: 1000 },
    { why: 'idle', since: 1000 },
  ] as const
  expect(isUnwatched(gone, 1000 + UNWATCHED_AFTER_MS['agent-gone'])).toBe(false)
  expect(isUnwatched(gone, 1001 + UNWATCHED_AFTER_MS['agent-gone'])).toBe(true)
  expect(isUnwatched(away, 1000 + UNWATCHED_AFTER_MS.idle)).toBe(false)
  expect(isUnwatched(away, 1001 + UNWATCHED_AFTER_MS.idle)).toBe(true)
  expect(isUnwatched(gone, null)).toBe(false)
})
