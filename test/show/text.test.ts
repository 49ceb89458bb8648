import { describe, expect, test } from 'vitest'
import type { HoldfastEvent } from '../../src/model/index.ts'
import {
  eventJson,
  eventsText,
  type LockView,
  lockJson,
  locksText,
  painter,
  type SessionView,
  sessionsText,
  statusText,
  treeText,
  WIDE,
} from '../../src/show/index.ts'
import { localTime } from '../../src/show/time.ts'
import { directory, ended, intent, lock, member, NOW, row, running, session, starting, stopping } from '../decide/build.ts'

const bare = painter(false)
const sight = (over: Partial<SessionView> = {}): SessionView => ({
  session: session(),
  run: running(),
  liveness: 'alive',
  pid: 200,
  note: null,
  tasks: [],
  ...over,
})
const dead = (over: Parameters<typeof ended>[0] = {}): SessionView => sight({ run: ended(over), liveness: 'dead', pid: null })

const all = (one: SessionView): string[] => statusText(one, { now: NOW, paint: bare, whole: true })

describe('ls', () => {
  test('says so when there are none', () => expect(sessionsText([], NOW, bare)).toEqual(['no sessions']))

  test('says beside the state what its agent is at, and since when that is known', () => {
    const at = (activity: SessionView['activity']) => sessionsText([sight({ activity: activity ?? null })], NOW, bare)[1]
    expect(at({ state: 'waiting', since: NOW - 185_000, how: 'hook' })).toMatch(/^s1 +waiting 3m05s +200 /)
    expect(at({ state: 'busy', since: null, how: 'output' })).toMatch(/^s1 +busy +200 /)
    expect(at(null)).toMatch(/^s1 +running +200 /)
    expect(all(sight({ activity: { state: 'idle', since: NOW - 1000, how: 'output' } })).join('\n')).toMatch(
      /activity +idle 1s \(by its output alone\)/,
    )
    expect(all(sight()).join('\n')).not.toContain('activity')
  })

  test('is one aligned line a session', () => {
    const sights = [
      sight({ session: session({ name: 'fix' }) }),
      sight({
        session: session({ id: 'starting-1', name: 'starting-1' }),
        run: starting({ startedAt: NOW - 2000 }),
        pid: null,
        note: 'its launcher is at work',
      }),
      sight({
        session: session({ id: 'far' }),
        liveness: 'unknown',
        note: 'it was started on another machine',
        run: running({ dir: '/mnt/a/very/long/path/that/does/not/fit/here/at-all' }),
      }),
      { ...dead({ state: 'failed', reason: 'exit code 3' }), session: session({ id: 'over' }) },
    ]
    expect(sessionsText(sights, NOW, bare)).toEqual([
      'SESSION     STATE     PID  AGE    DIRECTORY                                            AGENT   COMMAND',
      's1 (fix)    running   200  1h02m  /home/ann/project                                    claude  claude --resume',
      'starting-1  starting  -    2s     /home/ann/project                                    claude  claude --resume  · its launcher is at work',
      'far         running?  200  1h02m  /mnt/a/very/long/path/that/does/not/fit/here/at-all  claude  claude --resume  · it was started on another machine',
      'over        failed    -    1m05s  /home/ann/project                                    claude  claude --resume  · exit code 3',
    ])
  })

  test('an ended run shows no pid, since it has another tenant by now', () => {
    expect(sessionsText([{ ...dead(), pid: 200 }], NOW, bare)[1]).toMatch(/^s1 {7}completed {2}- {4}1m05s/)
  })
})

const task = { run: running({ session: 't1', task: 'cancel' }), usage: { cpuMs: 5, whole: false } }

describe('status', () => {
  test('of a live run in the foreground', () => {
    expect(all(sight({ session: session({ name: 'fix' }), tasks: [task], usage: { cpuMs: 12_345, whole: true } }))).toEqual([
      's1 (fix) running',
      '  run          r000000000001 (epoch 3)',
      '  liveness     alive',
      '  agent        pid 200',
      '  keeper       pid 100',
      '  marker       4000000000000001',
      '  command      claude --resume',
      '  directory    /home/ann/project',
      '  started      10:57:55 (1h02m ago) by ann@box on /dev/pts/3',
      '  attach       a foreground run: can be taken over, not attached',
      '  containment  cgroup /cg/holdfast-i1-r000000000001',
      '  burned       12 s of CPU',
      '  task         t1 running for 1h02m, at least 0.01 s of CPU',
    ])
  })
  test('of a stopping one: who asked, and who survives', () => {
    const run = stopping({ detached: true, tty: null, parent: 'r9', intent, survivors: [{ pid: 9, name: 'sleep', why: 'it did not end' }] })
    expect(all(sight({ run, pid: null, note: 'its leftovers are being ended' }))).toEqual([
      's1 stopping',
      '  run          r000000000001 (epoch 3)',
      '  liveness     alive',
      '  keeper       pid 100',
      '  marker       4000000000000001',
      '  command      claude --resume',
      '  directory    /home/ann/project',
      '  started      10:57:55 (1h02m ago) by ann@box',
      '  attach       holdfast attach s1',
      '  parent       r9',
      '  containment  cgroup /cg/holdfast-i1-r000000000001',
      '  asked        asked by ann (by ann@box)',
      '  survivor     pid 9 (sleep): it did not end',
      '  note         its leftovers are being ended',
    ])
  })
  test('of one that cannot be proven: what can be done', () => {
    const lines = all(sight({ liveness: 'unknown', note: 'EACCES' }))
    expect(lines.slice(-2)).toEqual([
      '  note         EACCES',
      '  next         look from where it runs; or, if you know that it is gone: holdfast resolve s1 --gone',
    ])
  })
  test('of an ended one: how, why and from what evidence', () => {
    expect(all(dead({ state: 'failed', exit: { code: 137, signal: 'SIGKILL' }, reason: 'SIGKILL (137)' }))).toEqual([
      's1 failed',
      '  run        r000000000001 (epoch 3)',
      '  liveness   dead',
      '  keeper     pid 100',
      '  marker     4000000000000001',
      '  command    claude --resume',
      '  directory  /home/ann/project',
      '  started    10:57:55 (1h02m ago) by ann@box on /dev/pts/3',
      '  ended      11:58:55 (1m05s ago) after 1h01m',
      '  exit       SIGKILL (137)',
      '  reason     SIGKILL (137)',
      '  by         keeper',
      "  evidence   the keeper's exit record: exit code 0",
      '  evidence   no process of it was found',
    ])
  })
  test.each([
    [{ budget: 1000 }, '  budget     1000 tokens'],
    [{ budgetCost: 2 }, '  budget     $2'],
    [{ budgetCost: 0.5 }, '  budget     $0.50'],
  ])('its budget %j', (budget, line) =>
    expect(all(sight({ run: running(budget) })).map((one) => one.replace(/ {2,}/g, ' '))).toContain(line.replace(/ {2,}/g, ' ')),
  )
  test('of a lost one: the exit is unknown', () => expect(all(dead({ state: 'lost', exit: null }))).toContain('  exit       unknown'))
})

describe('status in short', () => {
  const brief = (one: SessionView, page = WIDE): string[] => statusText(one, { now: NOW, paint: bare, page })
  test('six lines of a live agent', () => {
    const tokens = { input: 12_000, output: 300, cacheRead: 0, cacheWrite: 0, cost: 0.12 }
    const one = sight({
      session: session({ name: 'fix', harness: 'claude' }),
      activity: { state: 'waiting', since: NOW - 185_000, how: 'hook' },
      about: 'Fix the parser so that a comment at the end of a line is kept',
      tokens: { run: tokens, session: tokens, whole: true, unwatched: null },
    })
    expect(brief(one, { ...WIDE, home: '/home/ann', ahead: () => 120 })).toEqual([
      's1 (fix) running · waiting 3m05s',
      '  agent      claude · pid 200 · Fix the parser so that a comment at the end of a line is…',
      '  directory  ~/project',
      '  tokens     12.3k tokens (in 12.0k, out 300), $0.12',
      '  started    12:57:55 (1h02m ago)',
      '  attach     a foreground run: can be taken over, not attached',
    ])
  })
  test('of an ended one, and how to go on with it', () => {
    expect(brief({ ...dead({ state: 'failed', reason: 'exit code 3' }), session: session({ harness: 'claude', native: 'abcd' }) })).toEqual([
      's1 failed',
      '  agent      claude',
      '  directory  /home/ann/project',
      '  ended      11:58:55 (1m05s ago) after 1h01m',
      '  reason     exit code 3',
      '  next       holdfast resume s1',
    ])
  })
  test('trouble is never left out', () => {
    const run = stopping({ detached: true, tty: null, intent, survivors: [{ pid: 9, name: 'sleep', why: 'it did not end' }] })
    expect(brief(sight({ run, pid: null, liveness: 'unknown', note: 'EACCES', unread: 2, tasks: [task] }))).toEqual([
      's1 stopping?',
      '  command    claude --resume',
      '  directory  /home/ann/project',
      '  messages   2 unread',
      '  tasks      1 live of 1: holdfast task ls s1',
      '  started    10:57:55 (1h02m ago)',
      '  asked      asked by ann (by ann@box)',
      '  survivor   pid 9 (sleep): it did not end',
      '  note       EACCES',
      '  next       look from where it runs; or, if you know that it is gone: holdfast resolve s1 --gone',
      '  attach     holdfast attach s1',
    ])
  })
  test.each([40, 80])('at %i columns no word of it is broken', (columns) => {
    const lines = brief(sight({ note: 'its tool calls are denied: it went to the claude session of another' }), { ...WIDE, columns })
    expect(lines.filter((line) => line.length > columns)).toEqual([])
    expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain('it went to the claude session of another')
  })
  test('a time is that of the clock on the wall: of today, of this year, or before', () => {
    const at = (ms: number, minutes: number): string => localTime(ms, NOW, { ahead: () => minutes })
    expect([at(NOW, 0), at(NOW, 330), at(NOW - 86_400_000, 0), at(NOW - 40 * 86_400_000, 0)]).toEqual([
      '12:00:00',
      '17:30:00',
      '1 Jan 12:00',
      '23 Nov 2025',
    ])
    expect(at(NOW - 13 * 3_600_000, 120)).toBe('01:00:00')
  })
})

describe('tree', () => {
  test('says so when it is empty', () => expect(treeText({ members: [], suspects: [], spared: [] }, bare)).toEqual(['no processes']))
  test('parents come before their children, indented, suspects last', () => {
    const members = [member(310, { parent: 300 }), member(250, { parent: 200 }), member(300, { parent: 200, state: 'T' }), member(200), member(400)]
    const suspects = [{ row: row(500), pro: ['has the secret'], contra: ['is old'] }]
    const spared = [{ row: row(600), why: 'a key agent' }]
    const listening = members.map((one) => (one.row.pid === 250 ? { ...one, ports: [3000, 3001] } : one))
    expect(treeText({ members: listening, suspects, spared }, bare)).toEqual([
      'PID  STATE  PROOF    PORTS      NAME',
      '200  S      marker   -          p200',
      '250  S      marker   3000,3001    p250',
      '300  T      marker   -            p300',
      '310  S      marker   -              p310',
      '400  S      marker   -          p400',
      '600  S      spared   -          p600  · a key agent',
      '500  S      suspect  -          p500  · for: has the secret; against: is old',
    ])
  })
})

describe('events and locks', () => {
  const event: HoldfastEvent = {
    seq: 1,
    at: NOW,
    kind: 'ended',
    session: 's1',
    run: 'r1',
    epoch: 3,
    detail: { state: 'lost', exit: null, by: '', pid: 7, more: { a: 1 } },
  }
  const said = (over: object, of = '2026-01-02T12:00:00.000Z'): string[] =>
    eventsText([{ ...event, ...over, at: Date.parse(of) } as HoldfastEvent], NOW, bare, { ...WIDE, home: '/home/ann' })
  test.each<[object, string]>([
    [{ kind: 'claimed', detail: { pid: 5, dir: '/home/ann/project', argv: 'claude' } }, 's1 claimed: claude in ~/project'],
    [{ kind: 'running', detail: { keeper: 7 } }, 's1 running'],
    [
      { kind: 'asked', detail: { end: 'stopped', by: 'ann@box', reason: 'stopped by ann@box', graceMs: 10 } },
      's1 was asked to end: stopped by ann@box',
    ],
    [{ kind: 'exited', detail: { exit: { code: 3, signal: null } } }, 's1 its agent ended: exit code 3'],
    [{ kind: 'survivors', detail: { survivors: [{ pid: 9, name: 'sleep', why: 'no' }] } }, 's1 could not be ended whole: sleep (pid 9)'],
    [{ kind: 'ended', detail: { state: 'failed', exit: { code: 1, signal: null }, reason: 'exit code 1' } }, 's1 failed: exit code 1'],
    [
      { kind: 'activity', detail: { state: 'waiting', how: 'hook', since: 1, before: 'busy', lasted: 65_000 } },
      's1 waits for an answer, after 1m05s busy',
    ],
    [{ kind: 'said', detail: { kind: 'plan', text: 'I look\naround' } }, 's1 its plan: I look·around'],
    [{ kind: 'new-kind', detail: { state: 'lost', exit: null, by: '', pid: 7, more: { a: 1 } } }, 's1 new-kind: state lost, pid 7, more {"a":1}'],
  ])('an event is told in words: %j', (over, words) => expect(said(over)).toEqual([`12:00:00  ${words}`]))
  test('events of another day have their date, and all are aligned', () => {
    const two = [{ ...event, at: NOW - 86_400_000 }, event]
    expect(eventsText(two, NOW, bare)).toEqual(['1 Jan 12:00  s1 lost', '12:00:00     s1 lost'])
    expect(eventJson(event)).toEqual({ ...event, at: '2026-01-02T12:00:00.000Z' })
  })
  test('a long event is wrapped between words', () => {
    const long = {
      ...event,
      kind: 'said',
      detail: { kind: 'plan', text: 'first I read the parser, and then I add a test that fails before' },
    } as HoldfastEvent
    const lines = eventsText([long], NOW, bare, { ...WIDE, columns: 60 })
    expect(lines.filter((line) => line.length > 60)).toEqual([])
    expect(lines.join(' ').replaceAll(/ +/g, ' ')).toContain('I read the parser, and then I add a test that fails before')
  })
  const sight: LockView = {
    lock: lock(),
    movedTo: null,
    state: 'held',
    pid: 200,
    proof: 'its agent is alive',
    leftMs: null,
    sharedWith: [],
    neighbours: [],
  }
  test('a lock is one line', () => {
    expect(locksText([], NOW, bare)).toEqual(['no locks'])
    const other = {
      ...sight,
      lock: lock({ directory: directory('/a') }),
      movedTo: '/b',
      pid: null,
      sharedWith: ['s2 in /b'],
      neighbours: ['s3 in /c'],
    }
    expect(locksText([sight, other], NOW, bare)).toEqual([
      'DIRECTORY  HOLDER  PID  KIND         SINCE   REASON               PROOF',
      '/a         s1      200  run          5s ago  an agent works here  its agent is alive',
      '/b         s1      -    run, shared  5s ago  an agent works here  its agent is alive; it was /a when it was taken; shared with s2 in /b; neighbour: s3 in /c',
    ])
  })
  test('a lock has at least the documented keys', () => {
    expect(lockJson(sight)).toMatchObject({
      dir: '/a',
      pid: 200,
      session: 's1',
      kind: 'run',
      since: '2026-01-02T11:59:55.000Z',
      reason: 'an agent works here',
    })
  })
})
