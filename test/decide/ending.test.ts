import { describe, expect, test } from 'vitest'
import type { Seen } from '../../src/decide/index.ts'
import { endingOf } from '../../src/decide/index.ts'
import type { Ending, LiveRun } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { gone, intent, record, running, seenGone, stopping } from './build.ts'

const killed = 9
const takenOver = { end: 'superseded', by: 'bob@box', reason: 'taken over by bob' } as const

describe('endingOf: the ending that the evidence allows', () => {
  const cases: readonly [what: string, run: LiveRun, seen: Seen, ending: Omit<Ending, 'evidence'>][] = [
    [
      'exit 0',
      running(),
      seenGone({ exit: record(0) }),
      { state: 'completed', exit: { code: 0, signal: null }, reason: 'exit code 0', by: 'keeper' },
    ],
    ['exit 3', running(), seenGone({ exit: record(3) }), { state: 'failed', exit: { code: 3, signal: null }, reason: 'exit code 3', by: 'keeper' }],
    [
      '128+n',
      running(),
      seenGone({ exit: record(137, null, 'SIGKILL') }),
      { state: 'failed', exit: { code: 137, signal: 'SIGKILL' }, reason: 'SIGKILL (137)', by: 'keeper' },
    ],
    [
      'a zombie that exited',
      running(),
      seenGone({ harness: gone(0) }),
      { state: 'completed', exit: { code: 0, signal: null }, reason: 'exit code 0', by: 'reconcile' },
    ],
    [
      'a zombie that was killed',
      running(),
      seenGone({ harness: gone(killed) }),
      { state: 'failed', exit: { code: null, signal: 'SIGKILL' }, reason: 'SIGKILL', by: 'reconcile' },
    ],
    [
      'the exit record speaks before the zombie',
      running(),
      seenGone({ exit: record(0), harness: gone(killed) }),
      { state: 'completed', exit: { code: 0, signal: null }, reason: 'exit code 0', by: 'keeper' },
    ],
    [
      'the command was told to end',
      running(),
      seenGone({ exit: record(143, 'TERM', 'SIGTERM') }),
      { state: 'stopped', exit: { code: 143, signal: 'SIGTERM' }, reason: 'the holdfast command received SIGTERM', by: 'SIGTERM' },
    ],
    [
      'its terminal closed',
      running(),
      seenGone({ exit: record(0, 'HUP') }),
      { state: 'stopped', exit: { code: 0, signal: null }, reason: 'the holdfast command received SIGHUP', by: 'SIGHUP' },
    ],
    [
      'it was asked to end',
      stopping({ intent }),
      seenGone({ exit: record(0) }),
      { state: 'stopped', exit: { code: 0, signal: null }, reason: 'asked by ann', by: 'ann@box' },
    ],
    ['it was asked to end, no record', stopping({ intent }), seenGone(), { state: 'stopped', exit: null, reason: 'asked by ann', by: 'ann@box' }],
    [
      'it was taken over',
      stopping({ intent: takenOver }),
      seenGone({ exit: record(1) }),
      { state: 'superseded', exit: { code: 1, signal: null }, reason: 'taken over by bob', by: 'bob@box' },
    ],
    [
      'an intent is stronger than a told signal',
      stopping({ intent }),
      seenGone({ exit: record(143, 'TERM') }),
      { state: 'stopped', exit: { code: 143, signal: null }, reason: 'asked by ann', by: 'ann@box' },
    ],
    [
      'not found',
      running(),
      seenGone({ notStarted: 127 }),
      { state: 'failed', exit: { code: 127, signal: null }, reason: 'could not start claude: not found (ENOENT)', by: 'keeper' },
    ],
    [
      'not executable',
      running(),
      seenGone({ notStarted: 126 }),
      { state: 'failed', exit: { code: 126, signal: null }, reason: 'could not start claude: not executable (EACCES)', by: 'keeper' },
    ],
    [
      'could not start otherwise',
      running({ argv: [] }),
      seenGone({ notStarted: 2 }),
      { state: 'failed', exit: { code: 2, signal: null }, reason: 'could not start it: exit 2', by: 'keeper' },
    ],
    [
      'nothing tells',
      running(),
      seenGone(),
      { state: 'lost', exit: null, reason: 'its processes are gone and nothing tells how it ended', by: 'reconcile' },
    ],
    [
      'nobody asked, leftovers were ended',
      stopping(),
      seenGone(),
      { state: 'lost', exit: null, reason: 'its processes are gone and nothing tells how it ended', by: 'reconcile' },
    ],
    [
      'the machine was started anew',
      running(),
      seenGone({ keeper: gone(null, 'the machine was started anew since') }),
      { state: 'lost', exit: null, reason: 'the machine was started anew while it ran', by: 'reconcile' },
    ],
  ]
  for (const [what, run, looked, ending] of cases) test(what, () => expect(endingOf(run, looked)).toEqual({ ...ending, evidence: expect.any(Array) }))
})

describe('what it rests on is kept', () => {
  const cases: readonly [what: string, seen: Seen, evidence: readonly string[]][] = [
    ['an exit record', seenGone({ exit: record(3) }), ["the keeper's exit record: exit code 3", 'agent gone: no such process']],
    [
      'an exit record that may mean a signal',
      seenGone({ exit: record(137, null, 'SIGKILL') }),
      ["the keeper's exit record: SIGKILL (137) (a shell cannot tell this code from that signal)", 'agent gone: no such process'],
    ],
    ['a zombie', seenGone({ harness: gone(killed, 'it ended (zombie)') }), ["the zombie's own status: SIGKILL", 'agent gone: it ended (zombie)']],
    ['a stub', seenGone({ notStarted: 127, harness: null }), ['the stub could not become the agent (127)']],
    ['nothing', seenGone({ harness: null }), ['no exit record', 'keeper gone: no such process']],
  ]
  for (const [what, looked, evidence] of cases)
    test(what, () => expect(endingOf(running(), looked).evidence).toEqual([...evidence, 'no process of it was found']))
})

verifies('evidence', 'without a record, a zombie or a stub there is no exit code and no claim of success', () => {
  const ending = endingOf(running(), seenGone())
  expect(ending).toMatchObject({ state: 'lost', exit: null })
  expect(ending.reason).not.toBe('')
})

// `exited` put the zombie's status on record while leftovers lived; keeper and zombie are gone now, the record is not (design §7).
test.fails('[evidence] an exit already on record is not forgotten when its first witness is gone', () => {
  const exit = { code: 3, signal: null }
  expect(endingOf(stopping({ exit }), seenGone())).toMatchObject({ state: 'failed', exit })
})
