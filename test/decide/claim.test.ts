import { describe, expect, test } from 'vitest'
import type { Choice, ClaimDecision, ClaimView, Holding, LockVerdict, OnLive, Verdict } from '../../src/decide/index.ts'
import { decideClaim, toJudge } from '../../src/decide/index.ts'
import { verifies } from '../requirements.ts'
import { ended, holding, lock, member, running, starting, stopping } from './build.ts'

const ending = { state: 'lost', exit: null, reason: 'gone', evidence: [], by: 'reconcile' } as const
const verdicts = {
  alive: { kind: 'alive' },
  starting: { kind: 'starting', why: 'its launcher is at work' },
  settling: { kind: 'settling', why: 'its keeper is writing' },
  leftovers: { kind: 'leftovers', members: [member(300)], exit: null },
  over: { kind: 'over', ending },
  unknown: { kind: 'unknown', why: 'EACCES' },
} as const satisfies Record<Verdict['kind'], Verdict>

const WAYS: readonly OnLive[] = ['refuse', 'wait', 'attach', 'takeover']
const run = running()
const choice = (onLive: OnLive, over: Partial<Choice> = {}): Choice => ({ onLive, force: false, share: false, ...over })
const nobody: ClaimView = { epoch: 3, firstEpoch: 3, current: null, holdings: [], forgotten: [], rivals: [] }
const owner = (verdict: Verdict, chosen: Choice): ClaimDecision => decideClaim({ ...nobody, current: { run, verdict } }, chosen)
const newcomer = (verdict: Verdict, chosen: Choice): ClaimDecision => decideClaim({ ...nobody, firstEpoch: 2, current: { run, verdict } }, chosen)
const neighbour = (verdict: LockVerdict, chosen: Choice): ClaimDecision => decideClaim({ ...nobody, holdings: [holding(run, verdict)] }, chosen)

/** What may be true of a directory that somebody else has. */
const locked = {
  held: { kind: 'held', why: 'its agent is alive', pid: 200, passing: false },
  passing: { kind: 'held', why: 'what is left of it is being ended', pid: 200, passing: true },
  ended: { kind: 'free', why: 'its tree was seen empty', ending },
  free: { kind: 'free', why: 'its tree was seen empty', ending: null },
  unknown: { kind: 'unknown', why: 'EACCES' },
} as const satisfies Record<string, LockVerdict>

/** A decision in a few words, for tables. */
function told(decision: ClaimDecision): string {
  switch (decision.kind) {
    case 'refuse':
      return `refuse ${decision.because} ${decision.for.what}`
    case 'retire':
      return decision.despite === null ? 'retire' : `retire despite ${decision.despite}`
    case 'wait':
      return decision.settling ? 'wait to settle' : 'wait'
    default:
      return decision.kind
  }
}

type Table = Readonly<Record<Verdict['kind'], readonly [refuse: string, wait: string, attach: string, takeover: string]>>
const all = (same: string): readonly [string, string, string, string] => [same, same, same, same]

/** Columns: --refuse (default), --wait, --attach, --takeover. */
const OWNER: Table = {
  alive: ['refuse held session', 'wait', 'attach', 'retire'],
  starting: ['refuse held session', 'wait', 'refuse held session', 'retire'],
  settling: all('wait to settle'),
  leftovers: all('end-leftovers'),
  over: all('clear'),
  unknown: all('refuse unproven session'),
}
const FORCED: Table = { ...OWNER, alive: all('retire'), starting: all('retire'), unknown: all('retire despite EACCES') }

const views: readonly [what: string, over: Partial<Choice>, table: Table][] = [
  ['an owner', {}, OWNER],
  ['an owner, --share (which is about directories only)', { share: true }, OWNER],
  ['an owner, --force', { force: true }, FORCED],
]
for (const [what, over, table] of views) {
  describe(what, () => {
    for (const verdict of Object.values(verdicts)) {
      for (const [index, onLive] of WAYS.entries()) {
        const expected = table[verdict.kind][index] ?? ''
        test(`${verdict.kind}, ${onLive} → ${expected}`, () => expect(told(owner(verdict, choice(onLive, over)))).toBe(expected))
      }
    }
  })
}

const NEIGHBOUR: Readonly<Record<keyof typeof locked, readonly [refuse: string, wait: string, attach: string, takeover: string]>> = {
  held: ['refuse held directory', 'wait', 'refuse held directory', 'refuse held directory'],
  passing: ['wait to settle', 'wait', 'wait to settle', 'wait to settle'],
  ended: all('clear'),
  free: all('clear'),
  unknown: all('refuse unproven directory'),
}
describe('a neighbour: neither --takeover nor --force reaches into another session because of a directory, and nobody is signalled', () => {
  for (const [name, verdict] of Object.entries(locked)) {
    for (const [index, onLive] of WAYS.entries()) {
      const expected = NEIGHBOUR[name as keyof typeof locked][index] ?? ''
      for (const force of [false, true])
        test(`${name}, ${onLive}${force ? ', --force' : ''} → ${expected}`, () =>
          expect(told(neighbour(verdict, choice(onLive, { force })))).toBe(expected))
      test(`${name}, ${onLive}, --share → claim`, () => expect(told(neighbour(verdict, choice(onLive, { share: true })))).toBe('claim'))
    }
  }
  test('an end that is proven is recorded, and its lock goes with it; a lock that nobody has goes by itself', () => {
    expect(neighbour(locked.ended, choice('refuse'))).toEqual({ kind: 'clear', ends: [{ run, ending }], locks: [] })
    expect(neighbour(locked.free, choice('refuse'))).toMatchObject({ kind: 'clear', ends: [], locks: [{ run: run.id }] })
  })
})

describe('what a decision carries', () => {
  test('a claim names the epoch it was decided on', () => {
    expect(decideClaim({ ...nobody, epoch: 7 }, choice('refuse'))).toEqual({ kind: 'claim', seenEpoch: 7 })
  })
  test('a refusal names the holder and why', () => {
    expect(owner(verdicts.alive, choice('refuse'))).toEqual({
      kind: 'refuse',
      for: { what: 'session', run },
      because: 'held',
      why: 'it has a live owner',
    })
    expect(owner(verdicts.starting, choice('attach'))).toMatchObject({ for: { run }, why: 'its launcher is at work' })
    expect(owner(verdicts.unknown, choice('takeover'))).toMatchObject({ for: { run }, because: 'unproven', why: 'EACCES' })
    expect(neighbour(locked.held, choice('refuse'))).toMatchObject({ for: { holding: { run } }, because: 'held', why: 'its agent is alive' })
  })
  test('a wait says for what', () => {
    expect(owner(verdicts.settling, choice('refuse'))).toMatchObject({ for: { run }, why: 'its keeper is writing' })
    expect(owner(verdicts.alive, choice('wait'))).toMatchObject({ for: { run }, why: 'it has a live owner' })
    expect(neighbour(locked.held, choice('wait'))).toMatchObject({ for: { holding: { run } }, why: 'its agent is alive' })
  })
  test('an ending is passed on as it was proven', () =>
    expect(owner(verdicts.over, choice('refuse'))).toEqual({ kind: 'clear', ends: [{ run, ending }], locks: [] }))
})

verifies('one-owner', 'the own session comes before the directory: with both in the way, the owner is dealt with first', () => {
  const view = {
    ...nobody,
    current: { run, verdict: verdicts.alive },
    holdings: [holding(running({ id: 'r2', session: 's2' }), locked.ended)],
  }
  expect(decideClaim(view, choice('refuse'))).toMatchObject({ kind: 'refuse', for: { what: 'session', run } })
})

describe('taking over, with a neighbour in the same directory', () => {
  const both = (beside: LockVerdict, over: Partial<Choice> = {}): string =>
    told(decideClaim({ ...nobody, current: { run, verdict: verdicts.alive }, holdings: [holding(run, beside)] }, choice('takeover', over)))
  for (const [name, beside] of Object.entries(locked)) {
    test(`${name}: nobody is retired for a claim that would be refused`, () => {
      expect(both(beside)).toBe(NEIGHBOUR[name as keyof typeof locked][3])
      expect(both(beside, { force: true })).toBe(NEIGHBOUR[name as keyof typeof locked][3])
      expect(both(beside, { share: true })).toBe('retire')
    })
  }
})

describe('several in the way', () => {
  const toldOf = (...all: LockVerdict[]): string => told(decideClaim({ ...nobody, holdings: all.map((one) => holding(run, one)) }, choice('refuse')))
  test('one that refuses speaks for all, wherever it stands', () => {
    expect(toldOf(locked.ended, locked.passing, locked.unknown)).toBe('refuse unproven directory')
    expect(toldOf(locked.passing, locked.held, locked.ended)).toBe('refuse held directory')
  })
  test('what is only to be recorded is recorded together, before anything is waited for', () => {
    const alone: Holding = { lock: lock(), relation: 'same', worksIn: null, run: null, verdict: locked.free }
    const holdings = [holding(run, locked.ended), holding(run, locked.passing), alone, holding(run, locked.ended)]
    expect(decideClaim({ ...nobody, holdings }, choice('refuse'))).toEqual({
      kind: 'clear',
      ends: [
        { run, ending },
        { run, ending },
      ],
      locks: [alone.lock],
    })
  })
  test('a lock that no live run on record has is judged by itself', () => {
    for (const [name, verdict] of Object.entries(locked)) {
      const alone: Holding = { lock: lock({ run: null }), relation: 'inside', worksIn: null, run: null, verdict }
      expect(told(decideClaim({ ...nobody, holdings: [alone] }, choice('takeover', { force: true })))).toBe(NEIGHBOUR[name as keyof typeof locked][3])
    }
  })
})

describe('a tree of the session itself that lives on although its run is over on record', () => {
  const forgotten = (verdict: LockVerdict): Holding => ({ lock: lock(), relation: 'same', worksIn: null, run: null, verdict })
  const toldOf = (verdict: LockVerdict, onLive: OnLive, over: Partial<Choice> = {}, beside: LockVerdict[] = []): string =>
    told(decideClaim({ ...nobody, forgotten: [forgotten(verdict)], holdings: beside.map((one) => holding(run, one)) }, choice(onLive, over)))
  verifies('one-owner', 'is an owner like any other: refused, waited for, or ended first; --share is about directories only', () => {
    for (const share of [false, true]) {
      expect(toldOf(locked.held, 'refuse', { share })).toBe('refuse held forgotten')
      expect(toldOf(locked.held, 'wait', { share })).toBe('wait')
      expect(toldOf(locked.held, 'takeover', { share })).toBe('end-forgotten')
      expect(toldOf(locked.held, 'refuse', { share, force: true })).toBe('end-forgotten')
      expect(toldOf(locked.unknown, 'takeover', { share, force: true })).toBe('refuse unproven forgotten')
      expect(toldOf(locked.free, 'refuse', { share })).toBe('claim')
    }
  })
  test('is not ended for a claim that would be refused', () =>
    expect(toldOf(locked.held, 'takeover', {}, [locked.held])).toBe('refuse held directory'))
})

describe('an owner who came while we were at it', () => {
  for (const verdict of Object.values(verdicts)) {
    test(`${verdict.kind} is neither taken over nor forced`, () => {
      for (const force of [false, true]) expect(told(newcomer(verdict, choice('takeover', { force })))).toBe(OWNER[verdict.kind][0])
    })
  }
  verifies('one-owner', 'is waited for with --wait, and attached to with --attach', () => {
    expect([told(newcomer(verdicts.alive, choice('wait'))), told(newcomer(verdicts.alive, choice('attach')))]).toEqual(['wait', 'attach'])
  })
})

verifies('unknown', 'taking over is not testimony: only --force overrides what cannot be proven, and it says what it overrode', () => {
  expect(owner(verdicts.unknown, choice('takeover'))).toMatchObject({ kind: 'refuse', because: 'unproven' })
  expect(owner(verdicts.unknown, choice('refuse', { force: true }))).toEqual({ kind: 'retire', run, despite: 'EACCES' })
})

test('only a live run is judged', () => {
  for (const live of [starting(), running(), stopping()]) expect(toJudge(live)).toBe(live)
  expect(toJudge(ended())).toBeNull()
  expect(toJudge(null)).toBeNull()
})

describe('runs of other sessions that were fenced off from the conversation', () => {
  const rival = { ...running(), id: 'r9', session: 'other' }
  const beside = { ...nobody, rivals: [rival] }
  test('a takeover ends them first, whether the session lives or not', () => {
    for (const current of [null, { run, verdict: verdicts.alive }])
      expect(decideClaim({ ...beside, current }, choice('takeover'))).toEqual({ kind: 'retire', run: rival, despite: null })
  })
  test('nobody else touches them', () => {
    for (const onLive of WAYS.filter((way) => way !== 'takeover')) expect(told(decideClaim(beside, choice(onLive, { force: true })))).toBe('claim')
  })
  test('nobody is ended for a claim that would be refused', () => {
    const view = { ...beside, holdings: [holding(run, locked.held)] }
    expect(told(decideClaim(view, choice('takeover')))).toBe('refuse held directory')
    const newer = { ...beside, firstEpoch: 2, current: { run, verdict: verdicts.alive } }
    expect(told(decideClaim(newer, choice('takeover')))).toBe('refuse held session')
  })
})
