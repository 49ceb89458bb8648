import { describe, expect, test } from 'vitest'
import { judgeFailures } from '../../../src/decide/work/failure-breaker.ts'

const MINUTE = 60_000
const failed = (at: number, failure = 'no-result: exit 1') => ({ at, failure })
const five = [5, 4, 3, 2, 1].map((minute) => failed(minute * MINUTE))

describe('judgeFailures', () => {
  test.each([
    ['nothing has ended yet', [], 0, 0, 'closed'],
    ['four failures of a kind', five.slice(1), 0, 6 * MINUTE, 'closed'],
    ['five failures of a kind', five, 0, 6 * MINUTE, 'open'],
    ['a success among them', [...five.slice(0, 2), { at: 0, failure: null }, ...five.slice(2)], 0, 6 * MINUTE, 'closed'],
    ['two kinds of failure', [...five.slice(0, 4), failed(MINUTE, 'timeout')], 0, 6 * MINUTE, 'closed'],
    ['failures over many hours', five.map(({ failure }, hour) => ({ at: -hour * 60 * MINUTE, failure })), 0, MINUTE, 'closed'],
    ['the pause is over', five, 0, 20 * MINUTE, 'trial'],
    ['the pause is over, and a trial runs', five, 1, 20 * MINUTE, 'open'],
  ] as const)('%s', (_name, endings, running, now, kind) => expect(judgeFailures(endings, running, now).kind).toBe(kind))

  test('the pause begins at the last failure, and its reason names the failure', () => {
    expect(judgeFailures(five, 0, 6 * MINUTE)).toEqual({
      kind: 'open',
      until: 20 * MINUTE,
      why: 'the last 5 requests of this repository failed in the same way: no-result: exit 1',
    })
  })
})
