import { describe, expect, test } from 'vitest'
import type { Seen, Verdict } from '../../src/decide/index.ts'
import { verdict } from '../../src/decide/index.ts'
import type { LiveRun } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { alive, empty, gone, intent, member, record, running, seen, seenGone, starting, stopping, unknown, withMembers } from './build.ts'

const left = withMembers(member(300))
const frozen = { kind: 'alive', frozen: true } as const
const failing = 3 << 8
const exited = (code: number) => ({ code, signal: null })

/** What the verdict must contain; what is left out here is a matter of `endingOf`. */
type Expected = { kind: Verdict['kind']; why?: string; exit?: unknown; ending?: unknown }
type Case = readonly [what: string, run: LiveRun, seen: Seen, expected: Expected]

const tables: Readonly<Record<string, readonly Case[]>> = {
  'a living harness': [
    ['is alive', running(), seen(), { kind: 'alive' }],
    ['frozen is alive', running(), seen({ harness: frozen }), { kind: 'alive' }],
    ['without its keeper', running(), seen({ keeper: gone() }), { kind: 'alive' }],
    ['with a keeper nobody can see', running(), seen({ keeper: unknown() }), { kind: 'alive' }],
    ['although asked to end', stopping({ intent }), seen(), { kind: 'alive' }],
    ['although an exit record claims otherwise', running(), seen({ exit: record(0), tree: empty }), { kind: 'alive' }],
  ],
  'what cannot be told': [
    ['the harness', running(), seenGone({ harness: unknown('hidepid') }), { kind: 'unknown', why: 'hidepid' }],
    ['the harness, in spite of an exit record', running(), seenGone({ harness: unknown(), exit: record(0) }), { kind: 'unknown', why: 'EACCES' }],
    ['the tree, since nobody looked', running(), seenGone({ tree: null }), { kind: 'unknown', why: 'its tree was not looked at' }],
    ['the tree', running(), seenGone({ tree: unknown('hidepid') }), { kind: 'unknown', why: 'hidepid' }],
    ['the tree, in spite of an exit record', running(), seenGone({ tree: unknown(), exit: record(0) }), { kind: 'unknown', why: 'EACCES' }],
    ['the keeper', running(), seenGone({ keeper: unknown('EPERM') }), { kind: 'unknown', why: 'EPERM' }],
    ['the keeper, in spite of an exit record', running(), seenGone({ keeper: unknown(), exit: record(0) }), { kind: 'unknown', why: 'EACCES' }],
    [
      'the tree of a run without a keeper',
      starting(),
      seenGone({ keeper: null, harness: null, tree: unknown() }),
      { kind: 'unknown', why: 'EACCES' },
    ],
  ],
  'before there is a keeper': [
    [
      'its launcher is at work',
      starting(),
      seen({ keeper: null, harness: null, tree: empty, launcher: alive }),
      { kind: 'starting', why: 'its launcher is at work' },
    ],
    ['its launcher is frozen', starting(), seen({ keeper: null, harness: null, tree: empty, launcher: frozen }), { kind: 'starting' }],
    [
      'its launcher cannot be told',
      starting(),
      seen({ keeper: null, harness: null, tree: empty, launcher: unknown() }),
      { kind: 'unknown', why: 'EACCES' },
    ],
    ['its launcher died, its gated keeper is leaving', starting(), seen({ keeper: null, harness: null, tree: left }), { kind: 'settling' }],
    [
      'its launcher died',
      starting(),
      seen({ keeper: null, harness: null, tree: empty }),
      { kind: 'over', ending: { state: 'failed', exit: null, by: 'reconcile' } },
    ],
    [
      'it was asked to end and its launcher died',
      stopping({ keeper: null, intent }),
      seen({ keeper: null, harness: null, tree: empty }),
      { kind: 'over', ending: { state: 'stopped', exit: null, reason: intent.reason, by: intent.by } },
    ],
  ],
  'something of the tree lives': [
    ['and no harness was ever seen', running(), seen({ harness: null, tree: left }), { kind: 'alive' }],
    ['and the harness is gone', running(), seen({ harness: gone(), tree: left }), { kind: 'leftovers', exit: null }],
    ['and the keeper wrote the end', running(), seen({ harness: gone(), tree: left, exit: record(3) }), { kind: 'leftovers', exit: exited(3) }],
    [
      'and the keeper wrote the end of a harness never seen',
      running(),
      seen({ harness: null, tree: left, exit: record(3) }),
      { kind: 'leftovers', exit: exited(3) },
    ],
    ['and the harness is a zombie', running(), seen({ harness: gone(failing), tree: left }), { kind: 'leftovers', exit: exited(3) }],
    ['and the keeper is gone', running(), seenGone({ tree: left }), { kind: 'leftovers', exit: null }],
    ['and the keeper cannot be told', running(), seenGone({ keeper: unknown(), tree: left }), { kind: 'leftovers', exit: null }],
    ['and the run lives as long as its tree', running({ until: 'tree' }), seenGone({ tree: left, exit: record(0) }), { kind: 'alive' }],
  ],
  'nothing of the tree lives, but its keeper does': [
    [
      'and has yet to start the agent',
      running(),
      seen({ harness: null, tree: empty }),
      { kind: 'starting', why: 'its keeper is about to start the agent' },
    ],
    ['and has yet to write how it ended', running(), seen({ harness: gone(), tree: empty }), { kind: 'settling' }],
    [
      'and wrote the end',
      running(),
      seen({ harness: gone(), tree: empty, exit: record(0) }),
      { kind: 'over', ending: { state: 'completed', exit: exited(0) } },
    ],
    [
      'frozen, but the zombie tells',
      running(),
      seen({ keeper: frozen, harness: gone(failing), tree: empty }),
      { kind: 'over', ending: { state: 'failed', exit: exited(3) } },
    ],
    [
      'and the stub could not start the agent',
      running(),
      seen({ harness: gone(), tree: empty, notStarted: 127 }),
      { kind: 'over', ending: { state: 'failed' } },
    ],
  ],
  'nothing lives at all': [
    ['and nothing tells how it ended', running(), seenGone(), { kind: 'over', ending: { state: 'lost', exit: null } }],
    ['and no harness was ever seen', running(), seenGone({ harness: null }), { kind: 'over', ending: { state: 'lost', exit: null } }],
    ['and the keeper wrote the end', running(), seenGone({ exit: record(0) }), { kind: 'over', ending: { state: 'completed', exit: exited(0) } }],
    [
      'of a run that lives as long as its tree',
      running({ until: 'tree' }),
      seenGone({ exit: record(0) }),
      { kind: 'over', ending: { state: 'completed' } },
    ],
    ['of a run that was asked to end', stopping({ intent }), seenGone(), { kind: 'over', ending: { state: 'stopped', exit: null } }],
  ],
}
for (const [topic, cases] of Object.entries(tables)) {
  describe(topic, () => {
    for (const [what, run, looked, expected] of cases) test(what, () => expect(verdict(run, looked)).toMatchObject(expected))
  })
}

verifies('one-owner', 'a run is over only when both keys have turned: its keeper and its tree', () => {
  expect(verdict(running(), seen({ harness: gone(), keeper: gone(), tree: left })).kind).toBe('leftovers')
  expect(verdict(running(), seen({ harness: gone(), keeper: alive, tree: empty })).kind).toBe('settling')
  expect(verdict(running(), seen({ harness: gone(), keeper: gone(), tree: empty })).kind).toBe('over')
})

verifies('gate', 'a run whose launcher died before the gate opened never started, and says so', () => {
  const judged = verdict(starting(), seen({ keeper: null, harness: null, tree: empty, launcher: gone(null, 'no such process') }))
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
