import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  exitCode,
  innermostCookie,
  intentOf,
  isDead,
  isFrozen,
  isHelperMarker,
  isLive,
  isMarker,
  isRunMarker,
  isSessionId,
  isSignallable,
  MARKER_BASE,
  MARKER_SPAN,
  markerFrom,
  PROBLEMS,
  Problem,
  type ProblemId,
  type ProblemKind,
  policy,
  sameProcess,
} from '../../src/model/index.ts'
import { ended, intent, running, starting, stopping } from '../decide/build.ts'
import { verifies } from '../requirements.ts'

describe('session ids', () => {
  const good = ['a', '7', 'claude-x4f2k', 'A.b_c-d', '0193e6b1-1f7c-7000-8000-000000000000', 'a'.repeat(128)]
  test.each(good)('%j may name a session', (id) => expect(isSessionId(id)).toBe(true))

  const bad = ['', '.', '..', '-a', '_a', '.a', 'a b', 'a/b', '../a', 'a\n', '\na', 'a\0', 'ä', 'a;b', '$(a)', 'a\u001B[2J', 'a:b', 'a'.repeat(129)]
  test.each(bad)('%j may not', (id) => expect(isSessionId(id)).toBe(false))

  verifies('private', 'no id can leave its directory, be taken for an option, or steer a terminal', () => {
    const good = fc.string({ unit: fc.constantFrom('a', 'Z', '7', '.', '-', '_'), maxLength: 20 })
    const evil = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((letter) => !/[A-Za-z0-9._-]/.test(letter))
    fc.assert(
      fc.property(good, fc.oneof(evil, fc.constantFrom('/', '\\', '\n', '\0', ' ', '\u001B', ':')), good, (before, letter, after) => {
        expect(isSessionId(`a${before}${letter}${after}`)).toBe(false)
        expect(isSessionId(`a${before}${after}`)).toBe(true)
        expect(isSessionId(`.${before}`) || isSessionId(`-${before}`)).toBe(false)
      }),
    )
  })
})

describe('markers', () => {
  test('all of ours lie in one range, those of runs and of helpers apart, and are exact numbers', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MARKER_SPAN - 1 }), (random48) => {
        const [run, helper] = [markerFrom(random48, 'run'), markerFrom(random48, 'helper')]
        expect([run, helper].every(isMarker) && [run, helper].every(Number.isSafeInteger)).toBe(true)
        expect([run, helper].map(isRunMarker)).toEqual([true, false])
        expect([run, helper].map(isHelperMarker)).toEqual([false, true])
      }),
    )
  })
  test.each([0, 1, 1_000_000, MARKER_BASE - 1, MARKER_BASE + 2 * MARKER_SPAN])('%i is none', (value) => {
    expect([isMarker(value), isRunMarker(value), isHelperMarker(value)]).toEqual([false, false, false])
  })
  test('different dice make different markers', () => expect(markerFrom(1, 'run')).not.toBe(markerFrom(2, 'run')))
  test.each([
    ['one', 'one'],
    ['one:two', 'two'],
    ['one:two:three', 'three'],
    ['', ''],
  ])('of the lineage %j the last is its own', (lineage, own) => expect(innermostCookie(lineage)).toBe(own))
})

describe('processes', () => {
  verifies('identity', 'the same pid with other ticks is another process', () => {
    expect(sameProcess({ pid: 7, ticks: 1 }, { pid: 7, ticks: 1 })).toBe(true)
    expect(sameProcess({ pid: 7, ticks: 1 }, { pid: 7, ticks: 2 })).toBe(false)
    expect(sameProcess({ pid: 7, ticks: 1 }, { pid: 8, ticks: 1 })).toBe(false)
  })
  verifies('identity', 'zombies are dead, stopped ones are not', () => {
    expect([...'ZXx'].every(isDead)).toBe(true)
    expect([...'RSDTtIWP'].some(isDead)).toBe(false)
    expect([...'Tt'].every(isFrozen)).toBe(true)
    expect([...'RSDZXxI'].some(isFrozen)).toBe(false)
  })
  verifies('innocent', 'pids that mean everybody, a group or init are out of reach', () => {
    expect([0, 1, -1, -2, 1.5, Number.NaN, 2 ** 31, 2 ** 32 + 7].map(isSignallable)).not.toContain(true)
    expect([2, 4_194_304].map(isSignallable)).toEqual([true, true])
  })
})

describe('runs', () => {
  test('three states are live, all others are over', () => {
    expect([starting(), running(), stopping()].every(isLive)).toBe(true)
    expect(isLive(ended())).toBe(false)
    expect(isLive(ended({ state: 'lost' }))).toBe(false)
  })
  test('only a stopping run can have an intent', () => {
    expect(intentOf(stopping({ intent }))).toEqual(intent)
    for (const run of [starting(), running(), stopping(), ended()]) expect(intentOf(run)).toBeNull()
  })
})

describe('problems', () => {
  const codes: readonly [kind: ProblemKind, code: number][] = [
    ['badCommand', 64],
    ['notFound', 66],
    ['unavailable', 69],
    ['bug', 70],
    ['held', 75],
    ['unproven', 76],
    ['survivors', 79],
  ]
  test.each(codes)('%s exits with %i', (kind, code) => {
    const ids = Object.keys(PROBLEMS) as ProblemId[]
    const same = ids.filter((id) => PROBLEMS[id].kind === kind)
    expect(same).not.toEqual([])
    for (const id of same) expect(new Problem(id, 'no')).toMatchObject({ id, kind, exitCode: code })
  })

  verifies('visible', 'no problem exits with 0, and no two with the same code', () => {
    expect(codes.length).toBe(Object.keys(exitCode).length - 1)
    expect(new Set(codes.map(([, code]) => code)).size).toBe(codes.length)
    expect(exitCode.done).toBe(0)
    for (const [kind, code] of codes) expect(exitCode[kind]).toBe(code)
  })
  test('a problem keeps its hint, cause and detail', () => {
    const cause = new Error('disk full')
    const problem = new Problem('store-full', 'could not open the store', { hint: 'make room', cause, detail: { path: '/x' } })
    expect(problem).toMatchObject({ name: 'Problem', message: 'could not open the store', hint: 'make room', cause, detail: { path: '/x' } })
    expect(new Problem('owner-alive', 'no')).toMatchObject({ hint: null, detail: {} })
    expect(new Problem('owner-alive', 'no')).not.toHaveProperty('cause')
  })
})

verifies('bounded', 'every number of the policy is a bound: whole, positive, finite', () => {
  for (const [name, value] of Object.entries(policy)) expect(Number.isSafeInteger(value) && value > 0, name).toBe(true)
  expect(policy).toMatchObject({ graceMs: 10_000, launchMs: 30_000, busyMs: 5_000, logCapBytes: 10 * 1024 * 1024, retentionRuns: 10_000 })
  expect(policy.retentionMs).toBe(30 * 86_400_000)
})
