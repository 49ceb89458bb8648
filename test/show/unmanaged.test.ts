import { describe, expect, test } from 'vitest'
import type { DuplicateOwners } from '../../src/model/index.ts'
import { duplicateAdvice, duplicateText, managedJson, painter, type UnmanagedView, unmanagedJson, unmanagedText } from '../../src/show/index.ts'
import { NOW, running, session } from '../decide/build.ts'

const bare = painter(false)
const ID = '6f0c1d2e-0000-4000-8000-000000000001'
const seen = (over: Partial<UnmanagedView> = {}): UnmanagedView => ({
  harness: 'claude',
  pid: 321,
  launchers: [],
  nativeId: ID,
  named: null,
  dir: '/w/app',
  startedAt: NOW - 125_000,
  argv: ['claude', '--resume', ID],
  marked: null,
  keptBy: null,
  around: false,
  duplicateOf: [],
  ...over,
})

describe('ls --unmanaged', () => {
  test('says so when there is nobody', () => expect(unmanagedText([], NOW, bare)).toEqual(['no agents but those of sessions']))
  test('one aligned line an agent; an id that is not proven has a question mark', () => {
    const codex = seen({ harness: 'codex', pid: 9, nativeId: null, named: 'abc', dir: null, argv: ['codex', 'resume', 'abc'], around: true })
    expect(unmanagedText([seen(), codex, seen({ harness: 'pi', nativeId: null, argv: ['/opt/pi/bin/pi'] })], NOW, bare)).toEqual([
      'HARNESS  PID  AGE    DIRECTORY  NATIVE-ID                             COMMAND',
      `claude   321  2m05s  /w/app     ${ID}  claude --resume ${ID}`,
      'codex    9    2m05s  -          abc?                                  codex resume abc  · this command was started in it',
      'pi       321  2m05s  /w/app     -                                     pi',
      'holdfast adopt PID takes one in as a session',
    ])
  })
  test('what cannot be adopted is told why, and not offered', () => {
    const kept = seen({ argv: ['claude'], keptBy: { what: "Claude Code's daemon", stop: ['/opt/bin/claude', 'stop', '6f0c1d2e'] } })
    const lines = unmanagedText([kept, seen({ argv: ['claude'], marked: 'a run of another Holdfast home' })], NOW, bare)
    expect(lines.map((line) => line.split('  · ')[1])).toEqual([
      undefined,
      "kept by Claude Code's daemon; claude stop 6f0c1d2e ends it",
      'it has the marker of a run of another Holdfast home',
    ])
  })
  test('a second owner is told on its line', () => {
    const [, line] = unmanagedText([seen({ argv: ['claude'], duplicateOf: [{ session: 's1', pid: 7, how: 'recorded' }] })], NOW, bare)
    expect(line).toContain('claude  · also owned by pid 7 (session s1, on record): both write to the same transcript')
  })
  test('nothing in it steers the terminal', () => {
    const text = unmanagedText([seen({ argv: ['claude', '\u001B[2J'], dir: '/w/\u202Ex', nativeId: null, named: 'a\nb' })], NOW, bare).join('\n')
    expect(text).toContain('a·b?')
    for (const steering of ['\u001B', '\u202E']) expect(text).not.toContain(steering)
  })
})
describe('as JSON', () => {
  test('an agent that is no session has these keys, those of a session called the same', () => {
    expect(unmanagedJson(seen({ launchers: [320], duplicateOf: [{ session: null, pid: 7, how: 'named' }] }))).toEqual({
      session: null,
      state: 'unmanaged',
      liveness: 'alive',
      pid: 321,
      dir: '/w/app',
      harness: 'claude',
      nativeId: ID,
      named: null,
      argv: ['claude', '--resume', ID],
      startedAt: '2026-01-02T11:57:55.000Z',
      launchers: [320],
      marked: null,
      keptBy: null,
      around: false,
      note: 'perhaps also owned by pid 7 (not managed, by its command line): both would write to the same transcript',
      managed: false,
      duplicateOf: [{ session: null, pid: 7, how: 'named' }],
    })
  })
  test('a command line has a bound', () => {
    const { argv } = unmanagedJson(seen({ argv: ['claude', 'x'.repeat(9999), ...Array.from({ length: 500 }, () => 'y')] })) as { argv: string[] }
    expect([argv.length, argv[1]?.length, argv[1]?.at(-1)]).toEqual([64, 256, '…'])
  })
  test('a session says that it is managed, and who else owns its id', () => {
    const sight = { session: session(), run: running(), liveness: 'alive' as const, pid: 200, note: null, tasks: [] }
    expect(managedJson(sight)).toMatchObject({ session: 's1', managed: true, duplicateOf: [] })
    expect(managedJson({ ...sight, duplicateOf: [{ session: null, pid: 7, how: 'proven' }] })).toMatchObject({
      duplicateOf: [{ session: null, pid: 7, how: 'proven' }],
    })
  })
})

describe('two owners', () => {
  const owner = (pid: number, session: string | null, how: 'proven' | 'recorded' | 'named' = 'proven') => ({
    harness: 'claude',
    nativeId: 'X',
    pid,
    session,
    how,
  })
  const of = (certain: boolean, ...owners: ReturnType<typeof owner>[]): DuplicateOwners => ({ harness: 'claude', nativeId: 'X', owners, certain })
  const cases: readonly [DuplicateOwners, string, string][] = [
    [
      of(true, owner(7, 's1', 'recorded'), owner(9, null)),
      'claude session X has two live owners: pid 7 (session s1, on record) and pid 9 (not managed, says its harness); both write to the same transcript',
      'end one of them: holdfast stop s1, or end pid 9 yourself',
    ],
    [
      of(false, owner(7, null), owner(9, null, 'named')),
      'claude session X seems to have two live owners: pid 7 (not managed, says its harness) and pid 9 (not managed, by its command line); both would write to the same transcript',
      'end one of them: end pid 7 or 9 yourself',
    ],
    // Stopping the session would end both.
    [
      of(true, owner(7, 's1'), owner(9, 's1')),
      'claude session X has two live owners: pid 7 (session s1, says its harness) and pid 9 (session s1, says its harness); both write to the same transcript',
      'end one of them: end pid 7 or 9 yourself',
    ],
    [
      of(true, owner(7, 's1'), owner(8, 's2'), owner(9, null, 'named')),
      'claude session X has three live owners: pid 7 (session s1, says its harness) and pid 8 (session s2, says its harness) and pid 9 (not managed, by its command line); all of them write to the same transcript',
      'end all but one of them: holdfast stop s1, or holdfast stop s2, or end pid 9 yourself',
    ],
  ]
  test.each(cases)('are told with how each is known, and what ends one', (duplicate, text, advice) => {
    expect([duplicateText(duplicate), duplicateAdvice(duplicate)]).toEqual([text, advice])
  })
})
