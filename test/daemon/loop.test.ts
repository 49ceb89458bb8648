import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchVitals } from '../../src/daemon/frame/health-file.ts'
import { tellFailures } from '../../src/daemon/frame/log-failures.ts'
import { type Part, startLoop, within } from '../../src/daemon/frame/loop.ts'
import type { Clock, DaemonFiles, DaemonHealth } from '../../src/model/index.ts'
import { Problem, policy } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

let wallOffset = 0
let frozenMs = 0
const clock: Clock = {
  now: () => Date.now() + wallOffset,
  elapsed: () => performance.now() + frozenMs,
  sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
  random: () => 0.999,
}
beforeEach(() => {
  wallOffset = 0
  frozenMs = 0
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const bounds = {
  ...policy,
  daemonRoundMs: 4_000,
  daemonPulseMs: 1_000,
  backoffMinMs: 1_000,
  backoffMaxMs: 8_000,
  daemonLeaveMs: 500,
  daemonCloseMs: 300,
}
const silent = (): void => {}
const part = (round: () => Promise<Record<string, number>>, over: Partial<Part> = {}): Part => ({ name: 'one', everyMs: 5_000, round, ...over })
const forever = (): Promise<never> => new Promise(() => {})

test('rounds come at their pace, at a wake, and once more after a wake during one', async () => {
  let rounds = 0
  let finish = silent
  const slow = (): Promise<Record<string, number>> =>
    new Promise((done) => {
      rounds++
      finish = () => done({ seen: rounds })
    })
  const loop = startLoop([part(slow)], clock, silent, bounds)
  const step = async (ms: number): Promise<void> => {
    finish()
    await vi.advanceTimersByTimeAsync(ms)
  }
  expect(rounds).toBe(1)
  await step(4_999)
  expect(rounds).toBe(1)
  await step(1)
  expect(rounds).toBe(2)
  loop.wake('one')
  await step(0)
  expect(rounds).toBe(3)
  await step(0)
  loop.wake('one')
  await step(0)
  expect(rounds).toBe(4)
  expect(loop.health()).toMatchObject({ healthy: true, parts: [{ name: 'one', nextTry: null, counts: { seen: 3 } }] })
  const stopped = loop.stop()
  finish()
  expect(await stopped).toEqual([])
})

verifies('visible', 'what fails is told with its error, failures in a row and next try, and pauses for longer each time', async () => {
  let trouble: Error | null = new Error('no way')
  const told: [string, unknown, number][] = []
  const round = async (): Promise<Record<string, number>> => {
    if (trouble !== null) throw trouble
    return {}
  }
  const loop = startLoop([part(round)], clock, (...words) => told.push(words), bounds)
  await vi.advanceTimersByTimeAsync(0)
  expect(loop.health()).toMatchObject({
    healthy: false,
    why: 'one: no way',
    parts: [{ failures: 1, lastError: 'no way', nextTry: expect.any(Number) as number, lastSuccess: null }],
  })
  // One, two, four and then at most eight seconds.
  for (const ms of [1_000, 2_000, 4_000, 8_000, 8_000]) await vi.advanceTimersByTimeAsync(ms)
  expect(told).toHaveLength(6)
  expect(told.map(([, , pause]) => pause)).toEqual([1_000, 1_999, 3_998, 7_996, 7_996, 7_996])
  trouble = null
  await vi.advanceTimersByTimeAsync(8_000)
  expect(told.at(-1)).toEqual(['one', null, 5_000])
  expect(loop.health()).toMatchObject({
    healthy: true,
    why: null,
    parts: [{ failures: 0, lastError: null, lastSuccess: expect.any(Number) as number }],
  })
  await loop.stop()
})

verifies('visible', 'trouble within rounds is no success, and makes no pause longer when a whole round fails at last', async () => {
  let trouble: string | null = null
  let broken: Error | null = null
  const pauses: number[] = []
  const round = async (): Promise<Record<string, number>> => {
    if (broken !== null) throw broken
    return { seen: 1 }
  }
  const loop = startLoop([part(round, { trouble: () => trouble })], clock, (_name, _error, pause) => pauses.push(pause), bounds)
  const pulse = setInterval(() => loop.health(), bounds.daemonPulseMs)
  await vi.advanceTimersByTimeAsync(0)
  const { lastSuccess } = loop.health().parts[0] ?? {}
  trouble = 'run x is sick'
  for (let rounds = 0; rounds < 9; rounds++) await vi.advanceTimersByTimeAsync(5_000)
  expect(loop.health()).toMatchObject({ healthy: false, parts: [{ failures: 9, lastError: trouble, lastSuccess, counts: { seen: 1 } }] })
  broken = new Error('the store is busy')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(loop.health()).toMatchObject({ parts: [{ failures: 10, lastError: 'the store is busy' }] })
  expect(pauses).toEqual([5_000, bounds.backoffMinMs])
  clearInterval(pulse)
  await loop.stop()
})

verifies('bounded', 'one that fails is not hurried below the shortest pause, however often it is woken', async () => {
  let rounds = 0
  const loop = startLoop(
    [
      part(async () => {
        rounds++
        throw new Error('no')
      }),
    ],
    clock,
    silent,
    bounds,
  )
  for (let ms = 0; ms < 10_000; ms += 10) {
    loop.wake('one')
    await vi.advanceTimersByTimeAsync(10)
  }
  expect(rounds).toBeGreaterThanOrEqual(9)
  expect(rounds).toBeLessThanOrEqual(11)
  await loop.stop()
})

verifies('visible', 'a round without an end is a failure, but not because we were frozen or somebody set the clock', async () => {
  const loop = startLoop([part(forever)], clock, silent, bounds)
  const pulse = setInterval(() => loop.health(), bounds.daemonPulseMs)
  await vi.advanceTimersByTimeAsync(3_000)
  frozenMs = 3_600_000
  wallOffset = -86_400_000
  // An hour of which we know nothing counts as two pulses at most.
  expect(loop.health()).toMatchObject({ healthy: false, why: 'one: at work for 5 s' })
  clearInterval(pulse)
  expect(await Promise.all([loop.stop(), vi.advanceTimersByTimeAsync(1_000)])).toEqual([['one'], expect.anything()])
})

test('a freeze in the middle of an ordinary round is no failure', async () => {
  const loop = startLoop([part(forever)], clock, silent, bounds)
  await vi.advanceTimersByTimeAsync(1_000)
  loop.health()
  frozenMs = 3_600_000
  expect(loop.health().healthy).toBe(true)
  await Promise.all([loop.stop(), vi.advanceTimersByTimeAsync(1_000)])
})

test('times are told by the clock on the wall, as it is now', async () => {
  const loop = startLoop([part(async () => ({}))], clock, silent, bounds)
  await vi.advanceTimersByTimeAsync(1_000)
  wallOffset = 86_400_000
  const { at, parts } = loop.health()
  expect(at).toBe(clock.now())
  expect(parts[0]).toMatchObject({ lastSuccess: at - 1_000, nextTry: at + 4_000 })
  await loop.stop()
})

verifies('bounded', 'the end waits for rounds and closings, each for so long at most, and names who is late', async () => {
  const closed: string[] = []
  const close = (name: string) => async () => void closed.push(name)
  const parts = [
    part(async () => ({}), { name: 'quick', close: close('quick') }),
    part(() => clock.sleep(400).then(() => ({})), { name: 'slow', close: close('slow') }),
    part(forever, { name: 'stuck', close: close('stuck') }),
    part(async () => ({}), { name: 'clinging', close: forever }),
    part(async () => ({}), {
      name: 'broken',
      close: () => {
        throw new Error('no')
      },
    }),
  ]
  const loop = startLoop(parts, clock, silent, bounds)
  const late = loop.stop()
  await vi.advanceTimersByTimeAsync(300)
  expect(closed).toEqual(['quick'])
  await vi.advanceTimersByTimeAsync(600)
  expect((await late).toSorted()).toEqual(['clinging', 'stuck'])
  expect(closed).toEqual(['quick', 'slow', 'stuck'])
})

test('within tells whether something came to its end in time, well or not', async () => {
  const all = Promise.all([within(10, forever()), within(10, Promise.reject(new Error('x'))), within(10, undefined)])
  await vi.advanceTimersByTimeAsync(10)
  expect(await all).toEqual([false, true, true])
})

verifies('bounded', 'a failure is logged when it is another one, and else once in each pause, with what caused it', () => {
  const lines: string[] = []
  const ends: unknown[] = []
  const log = Object.assign((line: string) => void lines.push(line), { flush: async () => true })
  const tell = tellFailures(log, { end: (...ending) => void ends.push(ending) }, clock)
  const error = new Error('outer', { cause: new Error('inner') })
  for (let round = 0; round < 5; round++) tell('one', error, 1_000)
  vi.advanceTimersByTime(1_000)
  tell('one', error, 2_000)
  tell('one', new Error('another'), 2_000)
  tell('one', null, 5_000)
  expect(lines).toEqual([
    'one failed: outer ← inner; it is tried again in 1 s',
    'one failed: outer ← inner; it is tried again in 2 s',
    'one failed: another; it is tried again in 2 s',
    'one: well again',
  ])
  expect(ends).toEqual([])
  tell('one', new Problem('store-newer', 'the store has format 9'), 1_000)
  expect(ends).toEqual([[expect.stringContaining('a newer Holdfast is at work'), 69]])
})

test('health is written when it changed, not more often than so, and again when it grew old; a turn is told once', async () => {
  let now: DaemonHealth = { at: 0, healthy: true, why: null, parts: [] }
  const written: DaemonHealth[] = []
  const turns: unknown[] = []
  const files = { writeHealth: (health: DaemonHealth) => written.push(health) > 0 } as unknown as DaemonFiles
  const vitals = watchVitals(() => now, { files, clock, turned: (...turn) => void turns.push(turn) })
  vitals.nudge()
  vitals.nudge()
  expect(written).toHaveLength(1)
  now = { ...now, healthy: false, why: 'one: no' }
  vitals.nudge()
  vitals.nudge()
  expect([written.length, turns]).toEqual([1, [['unhealthy', 'one: no']]])
  await vi.advanceTimersByTimeAsync(policy.daemonPulseMs)
  expect(written.at(-1)).toBe(now)
  await vi.advanceTimersByTimeAsync(policy.daemonHealthStaleMs + policy.daemonPulseMs)
  expect(written).toHaveLength(3)
  now = { ...now, healthy: true, why: null }
  vitals.nudge()
  expect(turns.at(-1)).toEqual(['healthy', null])
  vitals.stop()
})
