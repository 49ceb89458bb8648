import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openMirror } from '../../src/daemon/frame/log.ts'
import { policy } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Somebody who takes so much each time; 0: it is full; null: it is closed. */
function reader(takes: () => number | null): { readonly mirror: ReturnType<typeof openMirror>; readonly read: () => string } {
  let text = ''
  const mirror = openMirror((bytes, done) => {
    const most = takes()
    if (most !== null) text += bytes.subarray(0, most).toString()
    const error = most === null ? 'EPIPE' : most === 0 ? 'EAGAIN' : null
    queueMicrotask(() => (error === null ? done(null, Math.min(most ?? 0, bytes.length)) : done(Object.assign(new Error(error), { code: error }), 0)))
  })
  return { mirror, read: () => text }
}

verifies('visible', 'what a full terminal does not take is tried again, whole and in order', async () => {
  let takes = 0
  const { mirror, read } = reader(() => takes)
  mirror.say('one\n')
  mirror.say('two\n')
  await vi.advanceTimersByTimeAsync(policy.daemonMirrorMs * 3)
  expect([read(), mirror.hangs()]).toEqual(['', false])
  takes = 3
  await vi.advanceTimersByTimeAsync(policy.daemonMirrorMs * 5)
  expect(read()).toBe('one\ntwo\n')
  await mirror.settled()
})

verifies('bounded', 'only so many lines wait, and how many were left out is said', async () => {
  let takes = 0
  const { mirror, read } = reader(() => takes)
  for (let line = 0; line < policy.daemonLinesHeld + 8; line++) mirror.say(`${line}\n`)
  takes = 1_000_000
  await vi.advanceTimersByTimeAsync(policy.daemonMirrorMs)
  const lines = read().split('\n')
  // The first was under way.
  expect(lines.slice(policy.daemonLinesHeld)).toEqual([String(policy.daemonLinesHeld), '(7 more lines were left out here; they are in the log)', ''])
  mirror.say('after\n')
  await mirror.settled()
  expect(read()).toMatch(/log\)\nafter\n$/)
})

test('one that is closed is left alone', async () => {
  const { mirror, read } = reader(() => null)
  mirror.say('one\n')
  mirror.say('two\n')
  await mirror.settled()
  expect(read()).toBe('')
})
