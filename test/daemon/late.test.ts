import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Part, startLoop } from '../../src/daemon/frame/loop.ts'

const clock = { now: () => Date.now(), elapsed: () => Date.now(), sleep: async () => {}, random: () => 0.5 }
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a part that is to begin later does, unless it is woken', async () => {
  const round = vi.fn(async () => ({}))
  const part: Part = { name: 'late', everyMs: 1000, afterMs: 60_000, round }
  const loop = startLoop([part], clock, () => {})
  await vi.advanceTimersByTimeAsync(4000)
  expect(round).not.toHaveBeenCalled()
  expect(loop.health()).toMatchObject({ healthy: true, parts: [{ name: 'late', lastSuccess: null, nextTry: clock.now() + 56_000 }] })
  loop.wake('late')
  await vi.advanceTimersByTimeAsync(0)
  expect(round).toHaveBeenCalledTimes(1)
  await loop.stop()
})

test('a part with trouble is woken as soon as any other, since that is of one thing among many', async () => {
  const round = vi.fn(async () => ({}))
  const loop = startLoop([{ name: 'part', everyMs: 60_000, round, trouble: () => 'session s: 1 survivor' }], clock, () => {})
  await vi.advanceTimersByTimeAsync(0)
  loop.wake('part')
  await vi.advanceTimersByTimeAsync(10)
  expect(round).toHaveBeenCalledTimes(2)
  await loop.stop()
})

test('trouble in a round that was done is told, once, and makes no longer pause', async () => {
  let trouble: string | null = 'run r1: EIO'
  const round = vi.fn(async () => ({ runs: 2 }))
  const told: unknown[] = []
  const loop = startLoop([{ name: 'part', everyMs: 1000, round, trouble: () => trouble }], clock, (_, error) => void told.push(error))
  await vi.advanceTimersByTimeAsync(2500)
  expect(round).toHaveBeenCalledTimes(3)
  expect(told).toEqual(['run r1: EIO'])
  expect(loop.health()).toMatchObject({ healthy: false, why: 'part: run r1: EIO', parts: [{ failures: 3, counts: { runs: 2 } }] })
  trouble = null
  await vi.advanceTimersByTimeAsync(1000)
  expect(loop.health()).toMatchObject({ healthy: true, why: null })
  expect(told).toEqual(['run r1: EIO', null])
  await loop.stop()
})
