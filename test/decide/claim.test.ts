import { describe, expect, test } from 'vitest'
import type { Choice, ClaimDecision, ClaimView, OnLive, Verdict } from '../../src/decide/index.ts'
import { decideClaim, toJudge } from '../../src/decide/index.ts'
import { verifies } from '../requirements.ts'
import { ended, member, running, starting, stopping } from './build.ts'

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
const nobody: ClaimView = { epoch: 3, firstEpoch: 3, current: null, neighbour: null }
const owner = (verdict: Verdict, chosen: Choice): ClaimDecision => decideClaim({ ...nobody, current: { run, verdict } }, chosen)
const newcomer = (verdict: Verdict, chosen: Choice): ClaimDecision => decideClaim({ ...nobody, firstEpoch: 2, current: { run, verdict } }, chosen)
const neighbour = (verdict: Verdict, chosen: Choice): ClaimDecision => decideClaim({ ...nobody, neighbour: { run, verdict } }, chosen)

/** A decision in a few words, for tables. */
function told(decision: ClaimDecision): string {
  switch (decision.kind) {
    case 'refuse':
      return `refuse ${decision.because} ${decision.what}`
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
  over: all('record-end'),
  unknown: all('refuse unproven session'),
}
const FORCED: Table = { ...OWNER, alive: all('retire'), starting: all('retire'), unknown: all('retire despite EACCES') }
const NEIGHBOUR: Table = {
  alive: ['refuse held directory', 'wait', 'refuse held directory', 'refuse held directory'],
  starting: ['refuse held directory', 'wait', 'refuse held directory', 'refuse held directory'],
  settling: all('wait to settle'),
  leftovers: all('end-leftovers'),
  over: all('record-end'),
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
    expect(owner(verdicts.alive, choice('refuse'))).toEqual({ kind: 'refuse', run, because: 'held', why: 'it has a live owner', what: 'session' })
    expect(owner(verdicts.starting, choice('attach'))).toMatchObject({ run, why: 'its launcher is at work' })
    expect(owner(verdicts.unknown, choice('takeover'))).toMatchObject({ run, because: 'unproven', why: 'EACCES' })
    expect(neighbour(verdicts.alive, choice('refuse'))).toMatchObject({ run, because: 'held', why: 'its directory is in use' })
  })
  test('a wait says for what', () => {
    expect(owner(verdicts.settling, choice('refuse'))).toMatchObject({ run, why: 'its keeper is writing' })
    expect(owner(verdicts.alive, choice('wait'))).toMatchObject({ run, why: 'it has a live owner' })
    expect(neighbour(verdicts.alive, choice('wait'))).toMatchObject({ run, why: 'its directory is in use' })
  })
  test('an ending is passed on as it was proven', () => expect(owner(verdicts.over, choice('refuse'))).toEqual({ kind: 'record-end', run, ending }))
})

verifies('one-owner', 'the own session comes before the directory: with both in the way, the owner is dealt with first', () => {
  const view = {
    ...nobody,
    current: { run, verdict: verdicts.alive },
    neighbour: { run: running({ id: 'r2', session: 's2' }), verdict: verdicts.over },
  }
  expect(decideClaim(view, choice('refuse'))).toMatchObject({ kind: 'refuse', run, what: 'session' })
})

describe('taking over, with a neighbour in the same directory', () => {
  const both = (beside: Verdict, over: Partial<Choice> = {}): string =>
    told(decideClaim({ ...nobody, current: { run, verdict: verdicts.alive }, neighbour: { run, verdict: beside } }, choice('takeover', over)))
  for (const beside of Object.values(verdicts)) {
    test(`${beside.kind}: nobody is retired for a claim that would be refused`, () => {
      expect(both(beside)).toBe(NEIGHBOUR[beside.kind][3])
      expect(both(beside, { force: true })).toBe(NEIGHBOUR[beside.kind][3])
      expect(both(beside, { share: true })).toBe('retire')
    })
  }
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
