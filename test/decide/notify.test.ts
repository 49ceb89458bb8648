import { describe, expect, test } from 'vitest'
import { decideNotification, type Happening, heldBack, historyFrom, NOTHING_TOLD, nowDue, waitingToBeTold } from '../../src/decide/index.ts'
import type { EventKind, HoldfastEvent, NotifyConfig, NotifyHistory } from '../../src/model/index.ts'
import { NOTIFY_DEFAULT, policy } from '../../src/model/index.ts'
import { ended } from './build.ts'

const NOW = 1_700_000_000_000
const event = (kind: EventKind, detail: HoldfastEvent['detail'], over: Partial<HoldfastEvent> = {}): HoldfastEvent => ({
  seq: 1,
  at: NOW,
  kind,
  session: 's',
  run: 'r',
  epoch: 1,
  detail,
  ...over,
})
const happening = (of: HoldfastEvent, over: Partial<Happening> = {}): Happening => ({
  event: of,
  run: null,
  watched: false,
  headless: false,
  outdone: false,
  ...over,
})
const decide = (of: Happening, config: NotifyConfig = NOTIFY_DEFAULT, history: NotifyHistory = NOTHING_TOLD, now = NOW) =>
  decideNotification(of, config, history, now, policy)
const end = (detail: HoldfastEvent['detail'], over: Partial<Happening> = {}) =>
  happening(event('ended', { state: 'completed', by: 'keeper', ...detail }), over)

describe('what a person is told of', () => {
  const child = ended({ parent: 'r0' })
  const longTurn = event('activity', { state: 'idle', before: 'busy', lasted: policy.turnMs })
  const told: [string, Happening, string][] = [
    ['it needs an answer', happening(event('activity', { state: 'waiting' })), 'input'],
    ['an agent inside another needs an answer', happening(event('activity', { state: 'waiting' }), { run: child }), 'input'],
    ['one that ends with its answer needs one', happening(event('activity', { state: 'waiting' }), { headless: true }), 'input'],
    ['a long turn is over', happening(longTurn), 'input'],
    [
      // That it went on is recorded by nobody where no registry tells it.
      'a long turn is over whose last tool needed a permission',
      happening(event('activity', { state: 'idle', before: 'waiting', lasted: policy.turnMs })),
      'input',
    ],
    ['somebody was refused', happening(event('refused', { wanted: 'session' })), 'refused'],
    ['it ended by itself', end({}), 'finished'],
    ['it failed', end({ state: 'failed', reason: 'exit code 3' }), 'finished'],
    ['it failed under the eyes of somebody, who may look elsewhere', end({ state: 'failed' }, { watched: true }), 'finished'],
    ['nobody knows how it ended', end({ state: 'lost', by: 'reconcile' }), 'finished'],
    ['its tmux server died', end({ state: 'stopped', by: 'tmux' }), 'finished'],
    ['its time was over', end({ state: 'stopped', by: 'timeout', reason: 'its time was over (--timeout)' }), 'finished'],
    ['its budget was spent', end({ state: 'stopped', by: 'budget', reason: 'its budget was spent (--budget): 9 of 5 tokens' }), 'budget'],
    ['what was left of a session', end({ state: 'stopped', by: 'orphan', reason: 'in any words' }, { run: child }), 'orphan'],
    ['whatever its reason begins with', end({ state: 'failed', reason: 'the session it was started in' }), 'finished'],
  ]
  test.each(told)('%s', (_what, of, as) => expect(decide(of).decision).toEqual({ kind: 'tell', as }))

  const left: [string, Happening, RegExp][] = [
    ['it works', happening(event('activity', { state: 'busy', before: 'idle', lasted: 99_999 })), /needs nobody/],
    ['a short turn', happening(event('activity', { state: 'idle', before: 'busy', lasted: policy.turnMs - 1 })), /short/],
    ['a turn that is all there was', happening(longTurn, { headless: true }), /its end is told/],
    ['the turn of one inside another', happening(longTurn, { run: child }), /session that started it/],
    ['its start', happening(event('activity', { state: 'idle' })), /needs nobody/],
    ['who answered a moment ago still looks', happening(event('activity', { state: 'idle', before: 'waiting', lasted: policy.turnMs - 1 })), /short/],
    ['it was idle before', happening(event('activity', { state: 'idle', before: 'idle', lasted: 99_999 })), /needs nobody/],
    ['it went on meanwhile', happening(event('activity', { state: 'waiting' }), { outdone: true }), /gone on/],
    ['somebody stopped it', end({ state: 'stopped', by: 'ann@host', reason: 'stopped by ann@host' }), /asked for it/],
    ['somebody took it over', end({ state: 'superseded', by: 'ann@host (pid 7)' }), /asked for it/],
    ['its terminal was closed', end({ state: 'stopped', by: 'SIGHUP' }), /asked for it/],
    [
      'what was started in one that somebody stopped',
      end({ state: 'stopped', by: 'ann@host', reason: 'the session it was started in (s0) ended' }),
      /asked/,
    ],
    ['who sat there left it', end({}, { watched: true }), /sat in front/],
    ['a task is done', end({}, { run: child }), /session that started it/],
    ['another event', happening(event('claimed', {})), /record only/],
    ['old news', happening(event('refused', {}, { at: NOW - policy.notifyAgeMs - 1 })), /too long ago/],
  ]
  test.each(left)('not: %s', (_what, of, why) => expect(decide(of).decision).toEqual({ kind: 'leave', why: expect.stringMatching(why) }))

  test('not what nobody wants to hear of, and that takes nobody else his place', () => {
    const { decision, history } = decide(end({}), { ...NOTIFY_DEFAULT, on: ['input'] })
    expect(decision).toMatchObject({ kind: 'leave', why: expect.stringMatching(/nobody wants/) })
    expect(history).toEqual(NOTHING_TOLD)
  })
})

describe('how often', () => {
  const waiting = (session: string) => happening(event('activity', { state: 'waiting' }, { session }))
  test('of one session and kind once in half a minute', () => {
    const first = decide(waiting('a'))
    const again = decide(waiting('a'), NOTIFY_DEFAULT, first.history, NOW + policy.notifySameMs - 1)
    expect(again.decision).toMatchObject({ kind: 'leave', why: expect.stringMatching(/a moment ago/) })
    expect(waitingToBeTold(again.history)).toBe(1)
    expect(decide(waiting('b'), NOTIFY_DEFAULT, again.history, NOW + 1).decision.kind).toBe('tell')
    expect(decide(happening(event('refused', {}, { session: 'a' })), NOTIFY_DEFAULT, again.history, NOW + 1).decision.kind).toBe('tell')
    const later = happening(event('activity', { state: 'waiting' }, { session: 'a', at: NOW + policy.notifySameMs }))
    expect(decide(later, NOTIFY_DEFAULT, again.history, NOW + policy.notifySameMs).decision.kind).toBe('tell')
  })

  const SAME = policy.notifySameMs
  const at = (ms: number, of: Happening): [number, Happening] => [ms, { ...of, event: { ...of.event, at: NOW + ms, seq: ms + 1 } }]
  const activity = (state: string) => happening(event('activity', { state, before: 'busy', lasted: 60_000 }))
  const ending = (reason: string) => end({ state: 'failed', reason })
  const rows: [string, [number, Happening][], number, [string, number, number][]][] = [
    [
      'a second question, still open, when its time has come',
      [at(0, activity('waiting')), at(3000, activity('busy')), at(6000, activity('waiting'))],
      SAME,
      [['input', 6001, 1]],
    ],
    ['and not before', [at(0, activity('waiting')), at(6000, activity('waiting'))], SAME - 1, []],
    ['not one that it has gone on from', [at(0, activity('waiting')), at(6000, activity('waiting')), at(9000, activity('busy'))], SAME, []],
    [
      'not one of a run that is over',
      [at(0, activity('waiting')), at(6000, activity('waiting')), at(9000, end({ state: 'stopped', by: 'ann@host' }))],
      SAME,
      [],
    ],
    [
      'the last of many questions only',
      [at(0, activity('waiting')), at(6000, activity('waiting')), at(9000, activity('waiting'))],
      SAME,
      [['input', 9001, 1]],
    ],
    ['all but the first of many ends as one', [at(0, ending('a')), at(2000, ending('b')), at(4000, ending('c'))], SAME, [['finished', 4001, 2]]],
    ['another session is another matter', [at(0, ending('a')), [1, happening(event('ended', { state: 'failed' }, { session: 'b' }))]], SAME, []],
  ]
  test.each(rows)('what came too soon is told later: %s', (_what, happened, then, expected) => {
    let history = NOTHING_TOLD
    for (const [ms, of] of happened) history = decide(of, NOTIFY_DEFAULT, history, NOW + ms).history
    const told = nowDue(history, NOW + then, policy)
    expect(told.due.map(({ as, event: { seq }, count }) => [as, seq, count])).toEqual(expected)
    // Once.
    expect(nowDue(told.history, NOW + then + SAME, policy).due.length).toBe(then < SAME ? 1 : 0)
  })

  test('what waits is bounded, waits for room too, and nothing of it is lost', () => {
    const sessions = Array.from({ length: policy.notifyQueue + 2 }, (_, index) => `s${index}`)
    let history: NotifyHistory = { ...NOTHING_TOLD, told: sessions.map((session) => ({ at: NOW, session, kind: 'finished' })) }
    for (const session of sessions) history = decide(happening(event('ended', { state: 'failed' }, { session })), NOTIFY_DEFAULT, history).history
    expect([history.later.length, history.held, waitingToBeTold(history)]).toEqual([policy.notifyQueue, 2, sessions.length])
    expect(nowDue(history, NOW + SAME, policy).due).toEqual([])
    const told = nowDue(history, NOW + policy.notifyWithinMs, policy)
    expect(told.due).toHaveLength(policy.notifyCount)
    expect(waitingToBeTold(told.history)).toBe(sessions.length - policy.notifyCount)
  })

  test('ten a minute, and the rest is counted and said once there is room', () => {
    let history = NOTHING_TOLD
    const kinds = Array.from({ length: 15 }, (_, index) => {
      const one = decide(waiting(`s${index}`), NOTIFY_DEFAULT, history)
      history = one.history
      return one.decision.kind
    })
    expect(kinds.filter((kind) => kind === 'tell')).toHaveLength(policy.notifyCount)
    expect(history.held).toBe(5)
    expect(heldBack(history, NOW + policy.notifyWithinMs - 1, policy).count).toBe(0)
    const said = heldBack(history, NOW + policy.notifyWithinMs, policy)
    expect(said.count).toBe(5)
    expect(heldBack(said.history, NOW + policy.notifyWithinMs, policy).count).toBe(0)
    // What is remembered stays small.
    expect(said.history.told).toHaveLength(1)
  })

  test('the next daemon goes on where the last one was, unless that is too long ago', () => {
    const history = decide(waiting('a'), NOTIFY_DEFAULT, decide(waiting('a')).history).history
    expect(waitingToBeTold(history)).toBe(1)
    expect(historyFrom({ seq: 1, at: NOW, history }, NOW + policy.notifyAgeMs, policy)).toBe(history)
    expect(historyFrom({ seq: 1, at: NOW, history }, NOW + policy.notifyAgeMs + 1, policy)).toBe(NOTHING_TOLD)
    expect(historyFrom(null, NOW, policy)).toBe(NOTHING_TOLD)
    // Or, by a clock that was set back, yet to come: nobody knows how long ago that is.
    expect(historyFrom({ seq: 1, at: NOW + policy.notifyAgeMs, history }, NOW, policy)).toBe(history)
    expect(historyFrom({ seq: 1, at: NOW + policy.notifyAgeMs + 1, history }, NOW, policy)).toBe(NOTHING_TOLD)
  })

  test('a clock that was set back makes nobody wait', () => {
    const { history } = decide(waiting('a'))
    const before = happening(event('activity', { state: 'waiting' }, { session: 'a', at: NOW - 3_600_000 }))
    expect(decide(before, NOTIFY_DEFAULT, history, NOW - 3_600_000).decision.kind).toBe('tell')
  })
})
