import { describe, expect, test } from 'vitest'
import type { Seen } from '../../src/decide/index.ts'
import { endingOf } from '../../src/decide/index.ts'
import type { EndState, LiveRun } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { alive, gone, intent, record, running, seenGone, stopping } from './build.ts'

const killed = 9
const seenBefore = { code: 3, signal: null }
const takenOver = { end: 'superseded', by: 'bob@box', reason: 'taken over by bob' } as const

type Case = readonly [
  what: string,
  run: LiveRun,
  seen: Seen,
  state: EndState,
  exit: readonly [number | null, string | null] | null,
  reason: string,
  by: string,
]
const lost = 'its processes are gone and nothing tells how it ended'
const tmux = { socket: '/h/tmux/sock', name: 'r000000000001' }
const rebooted = gone(null, 'the machine was started anew since')

const cases: readonly Case[] = [
  ['exit 0', running(), seenGone({ exit: record(0) }), 'completed', [0, null], 'exit code 0', 'keeper'],
  ['exit 3', running(), seenGone({ exit: record(3) }), 'failed', [3, null], 'exit code 3', 'keeper'],
  ['128+n', running(), seenGone({ exit: record(137, null, 'SIGKILL') }), 'failed', [137, 'SIGKILL'], 'SIGKILL (137)', 'keeper'],
  ['a zombie that exited', running(), seenGone({ harness: gone(0) }), 'completed', [0, null], 'exit code 0', 'reconcile'],
  ['a zombie that was killed', running(), seenGone({ harness: gone(killed) }), 'failed', [137, 'SIGKILL'], 'SIGKILL (137)', 'reconcile'],
  ['a record before a zombie', running(), seenGone({ exit: record(0), harness: gone(killed) }), 'completed', [0, null], 'exit code 0', 'keeper'],
  ['told to end', running(), seenGone({ exit: record(143, 'TERM') }), 'stopped', [143, null], 'the holdfast command received SIGTERM', 'SIGTERM'],
  ['its terminal closed', running(), seenGone({ exit: record(0, 'HUP') }), 'stopped', [0, null], 'the holdfast command received SIGHUP', 'SIGHUP'],
  [
    'its pane was closed',
    running({ tmux }),
    seenGone({ exit: record(129, 'HUP'), server: alive }),
    'stopped',
    [129, null],
    'its tmux pane was closed',
    'SIGHUP',
  ],
  [
    'its tmux server died',
    running({ tmux }),
    seenGone({ exit: record(129, 'HUP'), server: gone() }),
    'stopped',
    [129, null],
    'its tmux pane was closed: its tmux server is gone',
    'tmux',
  ],
  [
    'in a pane, told to end',
    running({ tmux }),
    seenGone({ exit: record(143, 'TERM') }),
    'stopped',
    [143, null],
    'the holdfast command received SIGTERM',
    'SIGTERM',
  ],
  ['asked to end', stopping({ intent }), seenGone({ exit: record(0) }), 'stopped', [0, null], 'asked by ann', 'ann@box'],
  ['asked to end, no record', stopping({ intent }), seenGone(), 'stopped', null, 'asked by ann', 'ann@box'],
  ['asked and told', stopping({ intent }), seenGone({ exit: record(143, 'TERM') }), 'stopped', [143, null], 'asked by ann', 'ann@box'],
  ['taken over', stopping({ intent: takenOver }), seenGone({ exit: record(1) }), 'superseded', [1, null], 'taken over by bob', 'bob@box'],
  ['only its tombstone was told', running(), seenGone({ intent, exit: record(0) }), 'stopped', [0, null], 'asked by ann', 'ann@box'],
  ['the store was told first', stopping({ intent: takenOver }), seenGone({ intent }), 'superseded', null, 'taken over by bob', 'bob@box'],
  ['not found', running(), seenGone({ notStarted: 127 }), 'failed', [127, null], 'could not start claude: not found (ENOENT)', 'keeper'],
  ['not executable', running(), seenGone({ notStarted: 126 }), 'failed', [126, null], 'could not start claude: not executable (EACCES)', 'keeper'],
  ['not started, somehow', running({ argv: [] }), seenGone({ notStarted: 2 }), 'failed', [2, null], 'could not start it: exit 2', 'keeper'],
  ['nothing tells', running(), seenGone(), 'lost', null, lost, 'reconcile'],
  ['stopping though nobody asked', stopping(), seenGone(), 'lost', null, lost, 'reconcile'],
  ['what was seen before', stopping({ exit: seenBefore }), seenGone(), 'failed', [3, null], 'exit code 3', 'reconcile'],
  ['a record before what was seen', stopping({ exit: seenBefore }), seenGone({ exit: record(0) }), 'completed', [0, null], 'exit code 0', 'keeper'],
  ['asked, what was seen before', stopping({ intent, exit: seenBefore }), seenGone(), 'stopped', [3, null], 'asked by ann', 'ann@box'],
  ['a new boot', running(), seenGone({ keeper: rebooted }), 'lost', null, 'the machine was started anew while it ran', 'reconcile'],
]
describe('endingOf: the ending that the evidence allows', () => {
  for (const [what, run, looked, state, exit, reason, by] of cases) {
    test(what, () => {
      const expected = { state, exit: exit && { code: exit[0], signal: exit[1] }, reason, by }
      expect(endingOf(run, looked)).toEqual({ ...expected, evidence: expect.any(Array) })
    })
  }
})

describe('what it rests on is kept', () => {
  const rests: readonly [what: string, seen: Seen, evidence: readonly string[]][] = [
    ['an exit record', seenGone({ exit: record(3) }), ["the keeper's exit record: exit code 3", 'agent gone: no such process']],
    [
      'an exit record that may mean a signal',
      seenGone({ exit: record(137, null, 'SIGKILL') }),
      ["the keeper's exit record: SIGKILL (137) (a shell cannot tell this code from that signal)", 'agent gone: no such process'],
    ],
    [
      'a zombie',
      seenGone({ harness: gone(killed, 'it ended (zombie)') }),
      ["the zombie's own status: SIGKILL (137)", 'agent gone: it ended (zombie)'],
    ],
    ['a stub', seenGone({ notStarted: 127, harness: null }), ['the stub could not become the agent (127)']],
    ['nothing', seenGone({ harness: null }), ['no exit record', 'keeper gone: no such process']],
  ]
  for (const [what, looked, evidence] of rests)
    test(what, () => expect(endingOf(running(), looked).evidence).toEqual([...evidence, 'no process of it was found']))
})

verifies('evidence', 'without a record, a zombie or a stub there is no exit code and no claim of success', () => {
  const ending = endingOf(running(), seenGone())
  expect(ending).toMatchObject({ state: 'lost', exit: null })
  expect(ending.reason).not.toBe('')
})

verifies('evidence', 'an exit already on record is not forgotten when its first witness is gone', () => {
  // `exited` put the zombie's status on record while leftovers lived; keeper and zombie are gone now, the record is not.
  const exit = { code: 3, signal: null }
  expect(endingOf(stopping({ exit }), seenGone())).toMatchObject({ state: 'failed', exit })
})
