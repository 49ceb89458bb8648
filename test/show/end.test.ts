import { describe, expect, test } from 'vitest'
import { changeText, type End, finishedText, membersText, retiredText, stoppedJson, stoppedText } from '../../src/show/index.ts'
import { ended, member, running } from '../decide/build.ts'
import { verifies } from '../requirements.ts'

const run = ended({ state: 'stopped', reason: 'asked by ann' })
const survivors = [{ pid: 9, name: 'sleep', why: 'it did not end' }]
const end = (over: Partial<Extract<End, { kind: 'ended' }>> = {}): End => ({ kind: 'ended', run, ended: [], spared: [], unrecorded: null, ...over })
const ends = {
  ended: end({ ended: [member(200), member(300)] }),
  survivors: { kind: 'survivors', run: running(), survivors, ended: [member(200)] },
  unknown: { kind: 'unknown', run: running(), why: 'EACCES' },
  alive: { kind: 'alive', run: running() },
  notRunning: { kind: 'not-running', run: null },
  handedOver: { kind: 'handed-over', run: running(), pid: 77 },
} as const satisfies Record<string, End>

describe('stop tells', () => {
  const cases: readonly [what: string, end: End, lines: readonly string[]][] = [
    ['nothing was left', end(), ['s1 stopped']],
    ['one process', end({ ended: [member(200)] }), ['s1 stopped: ended 1 process, seen gone: p200 (pid 200)']],
    ['several', ends.ended, ['s1 stopped: ended 2 processes, seen gone: p200 (pid 200), p300 (pid 300)']],
    ['not on record', end({ unrecorded: new Error('disk full') }), ['s1 stopped', '  not recorded (disk full); holdfast reconcile records it later']],
    ['survivors', ends.survivors, ['s1 still has survivors:', '  pid 9 (sleep): it did not end']],
    [
      'unknown',
      ends.unknown,
      ['s1 cannot be proven gone: EACCES', '  look from where it runs; or, if you know that it is gone: holdfast resolve s1 --gone'],
    ],
    ['alive', ends.alive, ['s1 is still alive']],
    ['never ran', ends.notRunning, ['s1 is not running']],
    ['over already', { kind: 'not-running', run }, ['s1 is not running (stopped: asked by ann)']],
    ['its own session', ends.handedOver, ['s1 is the session around this command; a stopper outside it (pid 77) ends it now']],
  ]
  test.each(cases)('%s', (_what, told, lines) => expect(stoppedText('s1', told)).toEqual(lines))
})

verifies('stop-proof', 'programs are told the result, who was ended, and who survived', () => {
  const nothing = { session: 's1', ended: [], spared: [], survivors: [], suspects: [], why: null, state: 'running', run: 'r000000000001' }
  const proven = [200, 300].map((pid) => ({ pid, name: `p${pid}`, proof: 'marker', ports: [] }))
  expect(stoppedJson('s1', ends.ended)).toEqual({ ...nothing, result: 'ended', state: 'stopped', ended: proven })
  expect(stoppedJson('s1', ends.survivors)).toEqual({ ...nothing, result: 'survivors', survivors, ended: proven.slice(0, 1) })
  expect(stoppedJson('s1', ends.unknown)).toEqual({ ...nothing, result: 'unknown', why: 'EACCES' })
  expect(stoppedJson('s1', ends.notRunning)).toEqual({ ...nothing, result: 'not-running', state: null, run: null })
})

describe('a takeover tells', () => {
  const superseded = ended({ state: 'superseded' })
  const cases: readonly [what: string, end: End, lines: readonly string[]][] = [
    [
      'whom it ended',
      end({ run: superseded, ended: [member(200)] }),
      ['took over s1: run r000000000001 (epoch 3) is superseded; ended 1 process, seen gone: p200 (pid 200)'],
    ],
    ['that nothing was left', end({ run: superseded }), ['took over s1: run r000000000001 (epoch 3) is superseded; nothing of it was left']],
    ['nothing if there was nothing', ends.notRunning, []],
  ]
  test.each(cases)('%s', (_what, told, lines) => expect(retiredText(told)).toEqual(lines))
})

describe('the end of a foreground run tells', () => {
  const failed = (signal: string) => end({ run: ended({ state: 'failed', exit: { code: 137, signal }, reason: signal }) })
  const cases: readonly [what: string, end: End, lines: readonly string[]][] = [
    ['nothing of success', end({ run: ended() }), []],
    ['nothing of an exit code, which is passed on', end({ run: ended({ state: 'failed', exit: { code: 3, signal: null } }) }), []],
    ['nothing of Ctrl-C', failed('SIGINT'), []],
    ['a killer', failed('SIGKILL'), ['session s1 failed: SIGKILL']],
    ['that somebody stopped it', end(), ['session s1 stopped: asked by ann']],
    ['that nobody knows', end({ run: ended({ state: 'lost', exit: null, reason: 'nothing tells' }) }), ['session s1 lost: nothing tells']],
    ['what was left running', end({ run: ended(), ended: [member(300)] }), ['ended p300 (pid 300), which the agent had left running']],
    ['what could not be ended', ends.survivors, ['leftovers could not be ended: sleep (pid 9): it did not end']],
    ['that its tree lives on', ends.alive, ['session s1 lives on with its tree (--until tree); holdfast stop s1 ends it']],
  ]
  test.each(cases)('%s', (_what, told, lines) => expect(finishedText(told)).toEqual(lines))
})

verifies('bounded', 'a message names eight members and counts the rest', () => {
  const many = Array.from({ length: 10 }, (_, index) => member(201 + index))
  expect(membersText(many)).toMatch(/^p201 \(pid 201\), .*p208 \(pid 208\) and 2 more$/)
  expect(membersText(many.slice(0, 8))).not.toContain('more')
})

test('a change tells from what to what, and why', () => {
  expect(changeText({ session: 's1', from: 'running', to: 'lost', why: 'nothing tells', survivors: [] })).toEqual([
    's1: running → lost (nothing tells)',
  ])
  expect(changeText({ session: 's1', from: 'running', to: 'stopping', why: '', survivors: [{ pid: 7, name: 'x', why: 'it did not end' }] })).toEqual([
    's1: running → stopping',
    '  pid 7 (x): it did not end',
  ])
})
