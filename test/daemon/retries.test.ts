import { expect, test } from 'vitest'
import { openRetries } from '../../src/daemon/parts/retries.ts'
import { policy } from '../../src/model/index.ts'

let now = 0
const clock = { now: () => now, elapsed: () => now, sleep: async () => {}, random: () => 0.999_999 }

test('what cannot be ended is tried again after a pause that grows, up to a bound, and what is in the way is told meanwhile', () => {
  now = 0
  const retries = openRetries(clock)
  expect(retries.leftMs('r', 'leftovers')).toBe(0)
  const pauses = Array.from({ length: 12 }, () => {
    retries.failed('r', 'leftovers', 'session s: 1 survivor')
    const left = retries.leftMs('r', 'leftovers')
    now += left
    expect(retries.leftMs('r', 'leftovers')).toBe(0)
    return left
  })
  expect(pauses.slice(0, 4)).toEqual([1000, 2000, 4000, 8000])
  expect(pauses.at(-1)).toBe(policy.backoffMaxMs)
  expect(retries.whys()).toEqual(['session s: 1 survivor'])
})

test('another run, and the same one for another reason, need not wait; and what is over is not told any more', () => {
  const retries = openRetries(clock)
  retries.failed('a', 'leftovers', 'session a: EIO')
  retries.failed('b', 'asked', 'session b: EIO')
  expect([retries.leftMs('a', 'asked'), retries.leftMs('c', 'leftovers')]).toEqual([0, 0])
  expect(retries.leftMs('a', 'leftovers')).toBe(1000)
  retries.done('a')
  expect(retries.whys()).toEqual(['session b: EIO'])
  retries.keep(new Set(['a']))
  expect(retries.whys()).toEqual([])
})
