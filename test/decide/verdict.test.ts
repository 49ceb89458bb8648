import { describe, expect, test } from 'vitest'
import type { Seen, Verdict } from '../../src/decide/index.ts'
import { verdict } from '../../src/decide/index.ts'
import type { Ending, EndState, Exit, LiveRun } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { alive, empty, gone, intent, member, record, running, seen, seenGone, starting, stopping, unknown, withMembers } from './build.ts'

const left = withMembers(member(300))
const frozen = { kind: 'alive', frozen: true } as const
const exited3 = 3 << 8
const code = (number: number) => ({ code: number, signal: null })
/** Before a keeper is on record: nothing of it was ever seen, unless a test says so. */
const early = (over: Partial<Seen> = {}): Seen => seen({ keeper: null, harness: null, tree: empty, ...over })
const takeover = { end: 'superseded', by: 'bob@box', reason: 'taken over by bob' } as const
const survivors = [{ pid: 300, name: 'sleep', why: 'it did not end' }]
/** The harness is over, the keeper is not. */
const after = (over: Partial<Seen> = {}): Seen => seen({ harness: gone(), tree: empty, ...over })

/** What the verdict must contain; the rest of an ending is a matter of `endingOf`. */
type Expected = { kind: Verdict['kind']; why?: string; exit?: Exit | null; ending?: Partial<Ending> }
const lives: Expected = { kind: 'alive' }
const doubt = (why: string): Expected => ({ kind: 'unknown', why })
const leftovers = (exit: Exit | null): Expected => ({ kind: 'leftovers', exit })
const over = (state: EndState, exit: Exit | null): Expected => ({ kind: 'over', ending: { state, exit } })
type Case = readonly [what: string, run: LiveRun, seen: Seen, expected: Expected]

const tables: Readonly<Record<string, readonly Case[]>> = {
  'a living harness': [
    ['is alive', running(), seen(), lives],
    ['frozen is alive', running(), seen({ harness: frozen }), lives],
    ['without its keeper', running(), seen({ keeper: gone() }), lives],
    ['with a keeper nobody can see', running(), seen({ keeper: unknown() }), lives],
    ['although asked to end', stopping({ intent }), seen(), lives],
    ['although an exit record claims otherwise', running(), seen({ exit: record(0), tree: empty }), lives],
  ],
  'what cannot be told': [
    ['the harness', running(), seenGone({ harness: unknown('hidepid') }), doubt('hidepid')],
    ['the harness, in spite of an exit record', running(), seenGone({ harness: unknown(), exit: record(0) }), doubt('EACCES')],
    ['the tree, since nobody looked', running(), seenGone({ tree: null }), doubt('its tree was not looked at')],
    ['the tree', running(), seenGone({ tree: unknown('hidepid') }), doubt('hidepid')],
    ['the tree, in spite of an exit record', running(), seenGone({ tree: unknown(), exit: record(0) }), doubt('EACCES')],
    ['the keeper', running(), seenGone({ keeper: unknown('EPERM') }), doubt('EPERM')],
    ['the keeper, in spite of an exit record', running(), seenGone({ keeper: unknown(), exit: record(0) }), doubt('EACCES')],
    ['the tree of a run without a keeper', starting(), early({ tree: unknown() }), doubt('EACCES')],
    ['the launcher of a run without a keeper', starting(), early({ launcher: unknown() }), doubt('EACCES')],
  ],
  'before there is a keeper': [
    ['its launcher is at work', starting(), early({ launcher: alive }), { kind: 'starting', why: 'its launcher is at work' }],
    ['its launcher is frozen', starting(), early({ launcher: frozen }), { kind: 'starting' }],
    ['its launcher died, its gated keeper is leaving', starting(), early({ tree: left }), { kind: 'settling' }],
    ['its launcher died', starting(), early(), over('failed', null)],
    ['its tombstone tells who wanted it', starting(), early({ intent }), over('stopped', null)],
    ['but it left a harness, and its launcher is at work', starting(), early({ launcher: alive, harness: gone() }), { kind: 'settling' }],
    ['but it left an end, and its launcher is at work', starting(), early({ launcher: alive, exit: record(0) }), { kind: 'settling' }],
    ['it was asked to end, and its launcher is frozen', stopping({ keeper: null, intent }), early({ launcher: frozen }), over('stopped', null)],
    ['the same, with a keeper at its gate', stopping({ keeper: null, intent }), early({ launcher: frozen, tree: left }), { kind: 'starting' }],
    ['it was asked to end, and its launcher cannot be seen', stopping({ keeper: null, intent }), early({ launcher: unknown() }), doubt('EACCES')],
    ['it was asked to end and its launcher died', stopping({ keeper: null, intent }), early(), over('stopped', null)],
  ],
  'a row that has lost its keeper, and nobody is left who could put it there': [
    ['and its agent lives', starting(), early({ harness: alive }), lives],
    ['and the keeper wrote the end', starting(), early({ exit: record(3) }), over('failed', code(3))],
    ['and the keeper wrote the end, but something lives on', running(), early({ exit: record(3), tree: left }), leftovers(code(3))],
    ['and the keeper that its directory names is gone', running(), early({ harness: gone(), unrecordedKeeper: gone() }), over('lost', null)],
    ['and that one lives', running(), early({ harness: gone(), unrecordedKeeper: alive }), { kind: 'settling' }],
    ['and that one cannot be told', running(), early({ harness: gone(), unrecordedKeeper: unknown('hidepid') }), doubt('hidepid')],
    [
      'and its directory names none',
      running(),
      early({ harness: gone() }),
      doubt('its row has no keeper, and neither has its directory: whether that lives cannot be told'),
    ],
    ['and something lives on', running(), early({ harness: gone(), tree: left }), leftovers(null)],
    ['and it was asked to end', stopping({ keeper: null, intent }), early({ harness: gone(), unrecordedKeeper: gone() }), over('stopped', null)],
  ],
  'an agent that never began': [
    ['since its keeper was hung up on before', running(), seenGone({ harness: null, neverBegan: true }), over('failed', null)],
    ['although it was asked to end', stopping({ intent }), seenGone({ harness: null, neverBegan: true }), over('stopped', null)],
    ['and its keeper says that it ended', running(), seenGone({ harness: null, neverBegan: true, exit: record(1) }), over('failed', code(1))],
    ['is not one that was there', running(), seenGone({ neverBegan: true }), over('lost', null)],
    ['is not one of which something lives', running(), seenGone({ harness: null, neverBegan: true, tree: left }), lives],
  ],
  'a takeover': [
    ['that ended it', stopping({ intent: takeover }), seenGone(), over('superseded', null)],
    ['that left survivors, which end later', stopping({ intent: takeover, survivors }), seenGone(), over('stopped', null)],
  ],
  'something of the tree lives': [
    ['and no harness was ever seen', running(), seen({ harness: null, tree: left }), lives],
    ['and the harness is gone', running(), after({ tree: left }), leftovers(null)],
    ['and the keeper wrote the end', running(), after({ tree: left, exit: record(3) }), leftovers(code(3))],
    ['and the keeper wrote the end of a harness never seen', running(), after({ harness: null, tree: left, exit: record(3) }), leftovers(code(3))],
    ['and the harness is a zombie', running(), after({ harness: gone(exited3), tree: left }), leftovers(code(3))],
    ['and the keeper is gone', running(), seenGone({ tree: left }), leftovers(null)],
    ['and the zombie told before it was reaped', stopping({ exit: code(3) }), seenGone({ tree: left }), leftovers(code(3))],
    ['and the keeper cannot be told', running(), seenGone({ keeper: unknown(), tree: left }), leftovers(null)],
    ['and the run lives as long as its tree', running({ until: 'tree' }), seenGone({ tree: left, exit: record(0) }), lives],
  ],
  'nothing of the tree lives, but its keeper does': [
    ['and has yet to start the agent', running(), after({ harness: null }), { kind: 'starting', why: 'its keeper is about to start the agent' }],
    ['and has yet to write how it ended', running(), after(), { kind: 'settling' }],
    ['and wrote the end', running(), after({ exit: record(0) }), over('completed', code(0))],
    ['frozen, but the zombie tells', running(), after({ keeper: frozen, harness: gone(exited3) }), over('failed', code(3))],
    ['and the zombie told before it was reaped', stopping({ exit: code(3) }), after(), over('failed', code(3))],
    ['and the stub could not start the agent', running(), after({ notStarted: 127 }), over('failed', code(127))],
  ],
  'nothing lives at all': [
    ['and nothing tells how it ended', running(), seenGone(), over('lost', null)],
    ['and no harness was ever seen', running(), seenGone({ harness: null }), over('lost', null)],
    [
      'and something else lies in the place of its exit record',
      running(),
      seenGone({ trouble: 'its file exit is a FIFO' }),
      { kind: 'over', ending: { state: 'lost', reason: 'its processes are gone and nothing tells how it ended: its file exit is a FIFO' } },
    ],
    ['and the keeper wrote the end', running(), seenGone({ exit: record(0) }), over('completed', code(0))],
    ['of a run that lives as long as its tree', running({ until: 'tree' }), seenGone({ exit: record(0) }), over('completed', code(0))],
    ['of a run whose tombstone alone tells who wanted it', running(), seenGone({ intent }), over('stopped', null)],
    ['of a run that was asked to end', stopping({ intent }), seenGone(), over('stopped', null)],
  ],
}
for (const [topic, cases] of Object.entries(tables)) {
  describe(topic, () => {
    for (const [what, run, looked, expected] of cases) test(what, () => expect(verdict(run, looked)).toMatchObject(expected))
  })
}

verifies('one-owner', 'a run is over only when both keys have turned: its keeper and its tree', () => {
  expect(verdict(running(), seen({ harness: gone(), keeper: gone(), tree: left })).kind).toBe('leftovers')
  expect(verdict(running(), after({ keeper: alive })).kind).toBe('settling')
  expect(verdict(running(), seen({ harness: gone(), keeper: gone(), tree: empty })).kind).toBe('over')
})

verifies('gate', 'a run whose launcher died before the gate opened never started, and says so', () => {
  const judged = verdict(starting(), early({ launcher: gone(null, 'no such process') }))
  expect(judged).toEqual({
    kind: 'over',
    ending: {
      state: 'failed',
      exit: null,
      reason: 'it never started: the command that launched it ended first',
      evidence: ['launcher gone: no such process', 'the gate never opened: no keeper was recorded', 'no process of it was found'],
      by: 'reconcile',
    },
  })
})

describe('an adopted run, which has no keeper', () => {
  const adopted = running({ adopted: true, keeper: null })
  const of = (over: Partial<Seen>): Verdict => verdict(adopted, { ...seenGone(), keeper: null, ...over })
  verifies('evidence', 'is its own first key: alive as long as it is, then leftovers, then over, and lost unless something tells', () => {
    expect(of({ harness: alive })).toEqual({ kind: 'alive' })
    expect(of({ tree: withMembers(member(300)) })).toMatchObject({ kind: 'leftovers' })
    expect(of({ tree: unknown() })).toMatchObject({ kind: 'unknown' })
    expect(of({})).toMatchObject({ kind: 'over', ending: { state: 'lost', reason: 'it was adopted while it ran: nobody saw how it ended' } })
    expect(of({ harness: gone(5 << 8) })).toMatchObject({ kind: 'over', ending: { state: 'failed', exit: { code: 5 } } })
  })
})
