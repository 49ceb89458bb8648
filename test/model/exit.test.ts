import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeExit, type Exit, exitFromShell, exitFromWaitStatus, signalName } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

describe('the status a shell gives', () => {
  const cases: readonly [status: number, exit: Exit, text: string][] = [
    [0, { code: 0, signal: null }, 'exit code 0'],
    [1, { code: 1, signal: null }, 'exit code 1'],
    [126, { code: 126, signal: null }, 'exit code 126'],
    [127, { code: 127, signal: null }, 'exit code 127'],
    [128, { code: 128, signal: null }, 'exit code 128'],
    [129, { code: 129, signal: 'SIGHUP' }, 'SIGHUP (129)'],
    [130, { code: 130, signal: 'SIGINT' }, 'SIGINT (130)'],
    [137, { code: 137, signal: 'SIGKILL' }, 'SIGKILL (137)'],
    [143, { code: 143, signal: 'SIGTERM' }, 'SIGTERM (143)'],
    [192, { code: 192, signal: 'SIG64' }, 'SIG64 (192)'],
    [193, { code: 193, signal: null }, 'exit code 193'],
    [255, { code: 255, signal: null }, 'exit code 255'],
  ]
  test.each(cases)('%i', (status, exit, text) => {
    expect(exitFromShell(status)).toEqual(exit)
    expect(describeExit(exitFromShell(status))).toBe(text)
  })

  verifies('evidence', 'the code is kept beside the signal, since a shell cannot tell them apart', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 255 }), (status) => exitFromShell(status).code === status))
  })
})

describe('the wait status of a zombie', () => {
  const cases: readonly [what: string, status: number, exit: Exit, text: string][] = [
    ['exit 0', 0, { code: 0, signal: null }, 'exit code 0'],
    ['exit 3', 3 << 8, { code: 3, signal: null }, 'exit code 3'],
    ['exit 137 is no signal here', 137 << 8, { code: 137, signal: null }, 'exit code 137'],
    ['exit 255', 0xff00, { code: 255, signal: null }, 'exit code 255'],
    ['killed', 9, { code: 137, signal: 'SIGKILL' }, 'SIGKILL (137)'],
    ['aborted, with a core dump', 6 | 0x80, { code: 134, signal: 'SIGABRT' }, 'SIGABRT (134)'],
    ['a real-time signal', 34, { code: 162, signal: 'SIG34' }, 'SIG34 (162)'],
  ]
  test.each(cases)('%s', (_what, status, exit, text) => {
    expect(exitFromWaitStatus(status)).toEqual(exit)
    expect(describeExit(exitFromWaitStatus(status))).toBe(text)
  })

  verifies('evidence', 'a zombie tells exactly whether it was a signal', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), (status) => {
        const { code, signal } = exitFromWaitStatus(status)
        expect(signal !== null).toBe((status & 127) !== 0)
        expect(code).toBe(signal === null ? status >> 8 : 128 + (status & 127))
      }),
    )
  })
})

test('signals have their names, and unnamed ones their number', () => {
  expect([1, 2, 9, 15, 99].map(signalName)).toEqual(['SIGHUP', 'SIGINT', 'SIGKILL', 'SIGTERM', 'SIG99'])
})
