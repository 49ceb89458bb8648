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
const nobody: ClaimView = { epoch: 3, firstEpoch: 3, current: null, holdings: [] }
const owner = (verdict: Verdict, chosen: Choice): ClaimDecision => decideClaim({ ...nobody, current: { run, verdict } }, chosen)
const newcomer = (verdict: Verdict, chosen: Choice): ClaimDecision => decideClaim({ ...nobody, firstEpoch: 2, current: { run, verdict } }, chosen)
const neighbour = (verdict: Verdict, chosen: Choice): ClaimDecision => decideClaim({ ...nobody, holdings: [holding(run, verdict)] }, chosen)

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
const NEIGHBOUR: Table = {
  alive: ['refuse held directory', 'wait', 'refuse held directory', 'refuse held directory'],
  starting: ['refuse held directory', 'wait', 'refuse held directory', 'refuse held directory'],
  settling: all('wait to settle'),
  leftovers: all('end-leftovers'),
  over: all('clear'),
  unknown: all('refuse unproven directory'),
}
const SHARED: Table = {
  alive: all('claim'),
  starting: all('claim'),
  settling: all('claim'),
  leftovers: all('claim'),
  over: all('claim'),
  unknown: all('claim'),
}

const views: readonly [what: string, decide: typeof owner, over: Partial<Choice>, table: Table][] = [
  ['an owner', owner, {}, OWNER],
  ['an owner, --share (which is about directories only)', owner, { share: true }, OWNER],
  ['an owner, --force', owner, { force: true }, FORCED],
  ['a neighbour', neighbour, {}, NEIGHBOUR],
  ['a neighbour, --force (which never reaches into another session)', neighbour, { force: true }, NEIGHBOUR],
  ['a neighbour, --share', neighbour, { share: true }, SHARED],
]
for (const [what, decide, over, table] of views) {
  describe(what, () => {
    for (const verdict of Object.values(verdicts)) {
      for (const [index, onLive] of WAYS.entries()) {
        const expected = table[verdict.kind][index] ?? ''
        test(`${verdict.kind}, ${onLive} → ${expected}`, () => expect(told(decide(verdict, choice(onLive, over)))).toBe(expected))
      }
    }
  })
}

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
    expect(neighbour(verdicts.alive, choice('refuse'))).toMatchObject({ for: { holding: { run } }, because: 'held', why: 'the directory is in use' })
  })
  test('a wait says for what', () => {
    expect(owner(verdicts.settling, choice('refuse'))).toMatchObject({ for: { run }, why: 'its keeper is writing' })
    expect(owner(verdicts.alive, choice('wait'))).toMatchObject({ for: { run }, why: 'it has a live owner' })
    expect(neighbour(verdicts.alive, choice('wait'))).toMatchObject({ for: { holding: { run } }, why: 'the directory is in use' })
  })
  test('an ending is passed on as it was proven', () =>
    expect(owner(verdicts.over, choice('refuse'))).toEqual({ kind: 'clear', ends: [{ run, ending }], locks: [] }))
})

verifies('one-owner', 'the own session comes before the directory: with both in the way, the owner is dealt with first', () => {
  const view = {
    ...nobody,
    current: { run, verdict: verdicts.alive },
    holdings: [holding(running({ id: 'r2', session: 's2' }), verdicts.over)],
  }
  expect(decideClaim(view, choice('refuse'))).toMatchObject({ kind: 'refuse', for: { what: 'session', run } })
})

describe('taking over, with a neighbour in the same directory', () => {
  const both = (beside: Verdict, over: Partial<Choice> = {}): string =>
    told(decideClaim({ ...nobody, current: { run, verdict: verdicts.alive }, holdings: [holding(run, beside)] }, choice('takeover', over)))
  for (const beside of Object.values(verdicts)) {
    test(`${beside.kind}: nobody is retired for a claim that would be refused`, () => {
      expect(both(beside)).toBe(NEIGHBOUR[beside.kind][3])
      expect(both(beside, { force: true })).toBe(NEIGHBOUR[beside.kind][3])
      expect(both(beside, { share: true })).toBe('retire')
    })
  }
})

describe('several in the way', () => {
  const toldOf = (...holdings: Holding[]): string => told(decideClaim({ ...nobody, holdings }, choice('refuse')))
  const over = holding(run, verdicts.over)
  test('one that refuses speaks for all, wherever it stands', () => {
    expect(toldOf(over, holding(run, verdicts.settling), holding(run, verdicts.unknown))).toBe('refuse unproven directory')
    expect(toldOf(holding(run, verdicts.leftovers), holding(run, verdicts.alive), over)).toBe('refuse held directory')
  })
  test('what is only to be recorded is recorded together, before anything else is done', () => {
    const free: Holding = { lock: lock(), relation: 'same', run: null, verdict: { kind: 'free', why: 'its tree was seen empty' } }
    const decision = decideClaim({ ...nobody, holdings: [over, holding(run, verdicts.leftovers), free, over] }, choice('refuse'))
    expect(decision).toEqual({
      kind: 'clear',
      ends: [
        { run, ending },
        { run, ending },
      ],
      locks: [free.lock],
    })
  })
})

describe('a lock that no live run on record has', () => {
  const alone = (verdict: LockVerdict, over: Partial<Choice> = {}, onLive: OnLive = 'refuse'): string =>
    told(decideClaim({ ...nobody, holdings: [{ lock: lock({ run: null }), relation: 'inside', run: null, verdict }] }, choice(onLive, over)))
  const held: LockVerdict = { kind: 'held', why: 'pid 1 is alive', pid: 1 }
  const unknown: LockVerdict = { kind: 'unknown', why: 'EACCES' }
  verifies('lock-life', 'held refuses, whatever the run rows say, and unknown is not freed, not even by --force', () => {
    for (const onLive of ['refuse', 'attach', 'takeover'] as const) {
      for (const force of [false, true]) expect(alone(held, { force }, onLive)).toBe('refuse held directory')
      for (const force of [false, true]) expect(alone(unknown, { force }, onLive)).toBe('refuse unproven directory')
    }
    expect(alone(held, {}, 'wait')).toBe('wait')
    expect(alone({ kind: 'free', why: 'gone' })).toBe('clear')
    expect(alone(held, { share: true })).toBe('claim')
  })
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
