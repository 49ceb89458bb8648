import { describe, expect, test } from 'vitest'
import { type Page, painter, type SessionView, sessionsText, type UnmanagedView, unmanagedText, WIDE } from '../../src/show/index.ts'
import { cutPath, cutWords, widthOf } from '../../src/show/width.ts'
import { ended, NOW, running, session } from '../decide/build.ts'

const bare = painter(false)
const page = (columns: number): Page => ({ ...WIDE, columns, home: '/home/ann' })
const ID = '6f0c1d2e-0000-4000-8000-000000000001'
const tokens = { input: 12_000, output: 300, cacheRead: 0, cacheWrite: 0, cost: null }
const sight = (over: Partial<SessionView> = {}): SessionView => ({
  session: session({ id: 's-4k2x9', name: 'api', harness: 'claude' }),
  run: running({ dir: '/home/ann/src/holdfast/packages/server', argv: ['claude', '--resume', ID, '--model', 'opus'] }),
  liveness: 'alive',
  pid: 412_345,
  activity: { state: 'waiting', since: NOW - 185_000, how: 'hook' },
  about: 'Fix the parser so that a comment at the end of a line is kept, and add a test for it',
  note: null,
  tasks: [],
  tokens: { run: tokens, session: tokens, whole: true, unwatched: null },
  ...over,
})
const sights = [
  sight(),
  sight({
    session: session({ id: 'web', name: null, harness: null }),
    run: running({ dir: '/srv', argv: ['/usr/bin/npm', 'run', 'dev'] }),
    activity: null,
    about: null,
    note: 'its tool calls are denied: it went to the claude session of another, so both would write to the same transcript',
  }),
  sight({
    run: ended({ state: 'failed', reason: 'exit code 3' }),
    activity: null,
    session: session({ id: 'a-name-that-is-longer-than-most-of-them', name: null }),
  }),
]

describe('ls fits the terminal', () => {
  test.each([40, 60, 80, 100, 120, 150, 200])('no line of it is broken at %i columns', (columns) => {
    const lines = sessionsText(sights, NOW, bare, page(columns))
    expect(lines.filter((line) => widthOf(line) > columns)).toEqual([])
  })
  test('at 80 columns there is no pid and no command, and the words of the conversation are there', () => {
    expect(sessionsText(sights, NOW, bare, page(80))).toEqual([
      'SESSION     STATE          AGE    TOKENS  DIRECTORY   AGENT   ABOUT',
      'api         waiting 3m05s  1h02m  12.3k   ~/…/server  claude  Fix the parser…',
      'web         running        1h02m  12.3k   /srv        npm     run dev',
      '  · its tool calls are denied: it went to the claude session of another, so both',
      '    would write to the same transcript',
      'a-name-th…  failed         1m05s  12.3k   ~/project   claude  Fix the parser…',
      '  · exit code 3',
    ])
  })
  test('at 200 columns there is everything', () => {
    expect(sessionsText(sights, NOW, bare, page(200)).slice(0, 2)).toEqual([
      'SESSION                                  STATE          PID     AGE    TOKENS  DIRECTORY                       AGENT   ABOUT                                     COMMAND',
      's-4k2x9 (api)                            waiting 3m05s  412345  1h02m  12.3k   ~/src/holdfast/packages/server  claude  Fix the parser so that a comment at the…  claude --resume 6f0c1d2e-0000-4000-800…',
    ])
  })
  test('a program of a pipe gets one line a session', () => expect(sessionsText(sights, NOW, bare, WIDE)).toHaveLength(4))
  test('agents that are not ours keep their pid, which adopt takes', () => {
    const other: UnmanagedView = {
      harness: 'claude',
      pid: 321,
      launchers: [],
      nativeId: ID,
      named: null,
      dir: '/home/ann/src/holdfast/packages/server',
      startedAt: NOW - 125_000,
      argv: ['claude', '--resume', ID],
      marked: null,
      keptBy: null,
      around: true,
      duplicateOf: [],
    }
    expect(unmanagedText([other], NOW, bare, page(80))).toEqual([
      'HARNESS  PID  AGE    DIRECTORY            NATIVE-ID',
      `claude   321  2m05s  ~/…/packages/server  ${ID}`,
      '  · this command was started in it',
      'holdfast adopt PID takes one in as a session',
    ])
    for (const columns of [40, 80, 200])
      expect(unmanagedText([other], NOW, bare, page(columns)).filter((line) => widthOf(line) > columns)).toEqual([])
  })
})

test('a text is cut behind a whole word where that leaves enough of it', () => {
  expect(cutWords('fix the parser', 14)).toBe('fix the parser')
  expect(cutWords('fix the parser', 13)).toBe('fix the…')
  expect(cutWords('fix incomprehensibility', 13)).toBe('fix incompre…')
})
test('a path loses folders in the middle first', () => {
  expect(cutPath('~/src/holdfast/packages/server', 30)).toBe('~/src/holdfast/packages/server')
  expect(cutPath('~/src/holdfast/packages/server', 20)).toBe('~/…/packages/server')
  expect(cutPath('~/src/holdfast/packages/server', 12)).toBe('~/…/server')
  expect(cutPath('/srv/a-folder-with-a-long-name', 12)).toBe('a-fol…g-name')
})
test('letters count as many columns as they take', () => {
  expect([widthOf('größer'), widthOf('漢字'), widthOf('🙂'), widthOf('e\u0301')]).toEqual([6, 4, 2, 1])
  expect(widthOf(cutWords('漢字漢字漢字', 7))).toBeLessThanOrEqual(7)
})
