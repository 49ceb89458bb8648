import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openEars } from '../../src/daemon/parts/due-runs.ts'
import { policy } from '../../src/model/index.ts'

const clock = { now: () => Date.now(), elapsed: () => Date.now(), sleep: async () => {}, random: () => 0 }
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('what happens within a moment is told once', () => {
  const wake = vi.fn()
  const ears = openEars(clock, wake)
  for (let times = 0; times < 100; times++) ears.touch('a')
  ears.touch('b')
  expect(ears.take()).toEqual([])
  vi.advanceTimersByTime(policy.daemonHearMs)
  expect(wake).toHaveBeenCalledTimes(1)
  expect(ears.take().toSorted()).toEqual(['a', 'b'])
  expect(ears.take()).toEqual([])
})

test('the same run is looked at only so often, and another one meanwhile', () => {
  const wake = vi.fn()
  const ears = openEars(clock, wake)
  ears.touch('a')
  vi.advanceTimersByTime(policy.daemonHearMs)
  ears.take()
  ears.touch('a')
  ears.touch('b')
  vi.advanceTimersByTime(policy.daemonHearMs)
  expect(ears.take()).toEqual(['b'])
  vi.advanceTimersByTime(policy.daemonHearAgainMs)
  expect(ears.take()).toEqual(['a'])
  expect(wake).toHaveBeenCalledTimes(3)
})

test('one that shall be looked at later is, unless something happens to it before', () => {
  const ears = openEars(clock, () => {})
  ears.touch('a', 2000)
  vi.advanceTimersByTime(1000)
  expect(ears.take()).toEqual([])
  ears.touch('a')
  vi.advanceTimersByTime(policy.daemonHearMs)
  expect(ears.take()).toEqual(['a'])
  vi.advanceTimersByTime(5000)
  expect(ears.take()).toEqual([])
})

test('closed ears wake nobody', () => {
  const wake = vi.fn()
  const ears = openEars(clock, wake)
  ears.touch('a')
  ears.close()
  vi.advanceTimersByTime(5000)
  expect(wake).not.toHaveBeenCalled()
})
