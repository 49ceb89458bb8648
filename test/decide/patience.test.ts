import { expect, test } from 'vitest'
import { patienceMs, type Seen, type Want } from '../../src/decide/index.ts'
import type { LiveRun } from '../../src/model/index.ts'
import { policy } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { intent, running, stopping } from './build.ts'

const gone = { kind: 'gone', why: 'no such process', waitStatus: null } as const
const alive = { kind: 'alive', frozen: false } as const
const frozen = { kind: 'alive', frozen: true } as const
const exit = { exit: { code: 0, signal: null }, told: null, at: 0 }
const seen = (over: Partial<Seen>): Seen => ({
  launcher: gone,
  keeper: gone,
  harness: gone,
  tree: { kind: 'empty' },
  exit: null,
  notStarted: null,
  intent: null,
  ...over,
})
const finish: Want = { kind: 'finish' }
const settle: Want = { kind: 'settle' }
const end = (why: Extract<Want, { kind: 'end' }>['why']): Want => ({ kind: 'end', why })
const PATIENCE = policy.daemonPatienceMs
const WHOLE_GRACE = policy.graceMs + policy.killMs + PATIENCE

type Case = readonly [what: string, Want, LiveRun, Seen, forMs: number, exitAgeMs: number | null, leftMs: number]
const cases: readonly Case[] = [
  ['over, its keeper was killed: nobody else comes', finish, running(), seen({}), 0, null, 0],
  ['over, its keeper waits for its finisher', finish, running(), seen({ keeper: alive, exit }), 0, 5, policy.settleMs],
  ['over, its keeper is frozen, for a while now', finish, running(), seen({ keeper: frozen, exit }), 1500, 1505, PATIENCE - 1500],
  ['over, its finisher is stuck', finish, running(), seen({ keeper: alive, exit }), policy.settleMs, 9999, 0],
  ['over by its zombie, its keeper is frozen', finish, running(), seen({ keeper: frozen }), PATIENCE, null, 0],
  ['over, its keeper has just left: its finisher may work', finish, running(), seen({ exit }), 0, 100, PATIENCE - 100],
  ['over, its exit record is old', finish, running(), seen({ exit }), 0, 60_000, 0],
  ['over, its exit record seems to be of the future', finish, running(), seen({ exit }), 500, -60_000, PATIENCE - 500],
  ['over, asked for: they are about to record it', finish, stopping({ intent }), seen({}), 0, null, PATIENCE],
  ['its keeper has yet to write', settle, running(), seen({ keeper: alive }), 0, null, PATIENCE],
  ['its keeper does not write', settle, running(), seen({ keeper: alive }), PATIENCE, null, 0],
  ['leftovers, its keeper was killed', end('leftovers'), running(), seen({}), 0, null, 0],
  ['leftovers, its keeper is alive', end('leftovers'), running(), seen({ keeper: alive, exit }), 0, 1, policy.settleMs],
  [
    'leftovers, its command was told to end',
    end('leftovers'),
    running(),
    seen({ keeper: alive, exit: { ...exit, told: 'TERM' } }),
    0,
    1,
    WHOLE_GRACE,
  ],
  ['asked for: whoever did gives it a grace', end('asked'), stopping({ intent }), seen({ harness: alive }), 0, null, WHOLE_GRACE],
  [
    'asked for, with a grace of its own',
    end('asked'),
    stopping({ intent: { ...intent, graceMs: 60_000 } }),
    seen({ harness: alive }),
    1000,
    null,
    60_000 + policy.killMs + PATIENCE - 1000,
  ],
  ['asked for, and whoever did is gone', end('asked'), stopping({ intent }), seen({ harness: alive }), WHOLE_GRACE, null, 0],
  ['its parent has just ended', end('orphaned'), running(), seen({ harness: alive, keeper: alive }), 0, null, PATIENCE],
  ['its time is over, and its timer had its own', end('timeout'), running(), seen({ harness: alive, keeper: alive }), 0, null, 0],
  ['its budget is spent, and its timer is gone', end('budget'), running(), seen({ harness: alive, keeper: alive }), 0, null, 0],
]

test.each(cases)('%s', (_, want, run, looked, forMs, exitAgeMs, leftMs) => {
  expect(patienceMs(want, run, looked, { forMs, exitAgeMs }, policy)).toBe(leftMs)
})

verifies('bounded', 'whatever is due is done in the end: patience has a bound', () => {
  for (const [what, want, run, looked, , exitAgeMs] of cases)
    expect(patienceMs(want, run, looked, { forMs: 60_000 + policy.killMs + PATIENCE, exitAgeMs }, policy), what).toBe(0)
})
