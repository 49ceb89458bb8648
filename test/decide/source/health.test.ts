import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterFailure, afterSuccess, HEALTHY, isDue } from '../../../src/decide/index.ts'
import { CALL_FAILURES, type CallFailure, type CallFailureKind, policy, type SourceHealth } from '../../../src/model/index.ts'
import { verifies } from '../../requirements.ts'

const failure = (kind: CallFailureKind, retryAfterMs: number | null = null): CallFailure => ({
  kind,
  status: null,
  retryAfterMs,
  why: `it was ${kind}`,
})

describe('the health of a source', () => {
  test.each([
    ['timeout', 'retrying', 2_000],
    ['server', 'retrying', 2_000],
    ['garbage', 'retrying', 2_000],
    ['limited', 'limited', 2_000],
    ['unauthorized', 'auth-blocked', 300_000],
  ] as const)('%s makes it %s', (kind, state, most) => {
    const health = afterFailure(HEALTHY, failure(kind), 1_000, 0.999999)
    expect(health).toMatchObject({ state, failures: 1, cause: `it was ${kind}`, nextAt: 1_000 + most })
  })

  test('pauses grow with failures, and an answer ends them', () => {
    let health: SourceHealth = HEALTHY
    const pauses = Array.from({ length: 12 }, () => {
      health = afterFailure(health, failure('timeout'), 0, 0)
      return health.nextAt
    })
    expect(pauses.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000])
    expect(pauses.at(-1)).toBe(policy.sourceRetryMaxMs / 2)
    expect(afterSuccess(5)).toEqual({ ...HEALTHY, succeededAt: 5 })
  })

  test('the pause that the other side asks for is kept', () => {
    expect(afterFailure(HEALTHY, failure('limited', 60_000), 0, 0).nextAt).toBe(60_000)
    expect(afterFailure(HEALTHY, failure('limited', 10 * policy.sourcePauseMs), 0, 0).nextAt).toBe(policy.sourcePauseMs)
  })

  test.each(['missing', 'gone', 'conflict'] as const)('%s is an answer about one item', (kind) => {
    expect(afterFailure(HEALTHY, failure(kind), 7, 0)).toEqual({ ...HEALTHY, succeededAt: 7 })
  })

  verifies('bounded', 'whatever fails, the next try is neither at once nor further than the longest pause', () => {
    const failures = fc.array(fc.tuple(fc.constantFrom(...CALL_FAILURES), fc.option(fc.nat(10 ** 9))), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(failures, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (list, random) => {
        let health: SourceHealth = HEALTHY
        for (const [kind, after] of list) health = afterFailure(health, failure(kind, after), 0, random)
        expect(isDue(health, 0)).toBe(health.state === 'ok')
        if (health.state === 'ok') return
        expect(health.nextAt).toBeGreaterThan(0)
        expect(health.nextAt).toBeLessThanOrEqual(policy.sourcePauseMs)
        expect(isDue(health, policy.sourcePauseMs)).toBe(true)
      }),
    )
  })
})
