import { describe, expect, test } from 'vitest'
import { attachCommand, holderFacts, holderLine, memberJson, type SessionView, sightJson, type TaskView } from '../../src/show/index.ts'
import { ended, intent, member, NOW, running, session, starting, stopping } from '../decide/build.ts'
import { verifies } from '../requirements.ts'

const sight = (over: Partial<SessionView> = {}): SessionView => ({
  session: session(),
  run: running(),
  liveness: 'alive',
  pid: 200,
  note: null,
  tasks: [],
  ...over,
})

const task: TaskView = { run: running({ session: 't1', task: 'cancel' }), usage: { cpuMs: 5, whole: false } }

/** Design §8, `status --json`, in its order. */
const DOCUMENTED =
  'session run epoch state liveness pid keeper dir harness nativeId argv startedAt endedAt exit reason evidence owner parent tasks usage'.split(' ')
/** Beyond the design: programs may come to rely on these too, so one more is a decision. */
const ADDED = ['name', 'detached', 'endedBy', 'note', 'survivors', 'containment', 'adopted', 'worktree', 'budget', 'budgetCost', 'activity', 'tmux']
const OWNER = ['host', 'user', 'pid', 'since', 'tty', 'attach']

describe('status --json', () => {
  const runs = { starting: starting(), running: running(), stopping: stopping(), ended: ended(), lost: ended({ state: 'lost', exit: null }) }
  test.each(Object.entries(runs))('a %s run has exactly the documented keys', (_state, run) => {
    expect(Object.keys(sightJson(sight({ run }))).sort()).toEqual([...DOCUMENTED, ...ADDED].sort())
  })
  test('they come in the documented order', () => {
    expect(Object.keys(sightJson(sight())).filter((key) => DOCUMENTED.includes(key))).toEqual(DOCUMENTED)
  })
  test('an owner has exactly the documented keys', () => expect(Object.keys(sightJson(sight())['owner'] as object)).toEqual(OWNER))
  test('nothing is lost on the way through JSON', () => {
    for (const run of Object.values(runs)) expect(JSON.parse(JSON.stringify(sightJson(sight({ run }))))).toEqual(sightJson(sight({ run })))
  })
})

describe('what it says', () => {
  test('of who is beside it, where that was asked, and of a worktree', () => {
    const worktree = { path: '/w/x', branch: 'feat', repository: '/r' }
    const beside = { sharedWith: ['s2 in /a'], neighbours: ['s3 in /wt'] }
    expect(sightJson(sight({ ...beside, worktree }))).toMatchObject({ ...beside, worktree })
  })
  test('of what its agent is at', () => {
    expect(sightJson(sight({ activity: { state: 'waiting', since: 0, how: 'registry' } }))['activity']).toEqual({
      state: 'waiting',
      since: '1970-01-01T00:00:00.000Z',
      how: 'registry',
    })
    expect(sightJson(sight({ activity: { state: 'busy', since: null, how: 'output' } }))['activity']).toEqual({
      state: 'busy',
      since: null,
      how: 'output',
    })
  })
  test('of a live run', () => {
    expect(sightJson(sight({ session: session({ name: 'fix' }), tasks: [task], usage: { cpuMs: 70, whole: true }, entered: true }))).toEqual({
      session: 's1',
      name: 'fix',
      run: 'r000000000001',
      epoch: 3,
      state: 'running',
      liveness: 'alive',
      pid: 200,
      keeper: 100,
      dir: '/home/ann/project',
      harness: null,
      nativeId: null,
      argv: ['claude', '--resume'],
      activity: null,
      detached: false,
      tmux: null,
      startedAt: '2026-01-02T10:57:55.000Z',
      endedAt: null,
      exit: null,
      reason: null,
      evidence: [],
      endedBy: null,
      note: null,
      survivors: [],
      owner: { host: 'box', user: 'ann', pid: 200, since: '2026-01-02T10:57:55.000Z', tty: '/dev/pts/3', attach: null },
      parent: null,
      tasks: [
        {
          session: 't1',
          run: 'r000000000001',
          state: 'running',
          onRetire: 'cancel',
          argv: ['claude', '--resume'],
          startedAt: '2026-01-02T10:57:55.000Z',
          endedAt: null,
          exit: null,
          reason: null,
          usage: { cpuMs: 5, whole: false, tokens: null },
        },
      ],
      usage: { cpuMs: 70, whole: true, tokens: null },
      budget: null,
      budgetCost: null,
      containment: { level: 'cgroup', path: '/cg/holdfast-i1-r000000000001', entered: true },
      adopted: false,
      worktree: null,
    })
  })
  verifies('evidence', 'of an ended run: how, why, by whom, from what evidence, and no owner', () => {
    expect(sightJson(sight({ run: ended({ state: 'failed', exit: { code: 3, signal: null } }), liveness: 'dead' }))).toMatchObject({
      state: 'failed',
      liveness: 'dead',
      endedAt: '2026-01-02T11:58:55.000Z',
      exit: { code: 3, signal: null },
      reason: 'exit code 0',
      evidence: ["the keeper's exit record: exit code 0", 'no process of it was found'],
      endedBy: 'keeper',
      owner: null,
    })
  })
  verifies('stop-proof', 'of a stopping run: its exit so far, who asked, and the survivors by name', () => {
    const survivors = [{ pid: 9, name: 'sleep', why: 'it did not end' }]
    const run = stopping({ intent, survivors, exit: { code: 137, signal: 'SIGKILL' } })
    expect(sightJson(sight({ run }))).toMatchObject({ state: 'stopping', exit: run.exit, reason: 'asked by ann', survivors, endedAt: null })
  })
  const pids: readonly [what: string, over: Partial<SessionView>, pid: number][] = [
    ['the harness', {}, 200],
    ['or else the keeper', { pid: null }, 100],
    ['or else the launcher', { pid: null, run: starting() }, 90],
  ]
  test.each(pids)('the owner is %s', (_who, over, pid) => expect(sightJson(sight(over))).toMatchObject({ owner: { pid } }))
})

describe('a holder', () => {
  test('is named in one line', () => {
    expect(holderLine({ ...running(), pid: 200 }, NOW)).toBe(
      'pid 200 (session s1, ann@box, /dev/pts/3) since 2026-01-02T10:57:55.000Z (1h02m ago) in /home/ann/project',
    )
    expect(holderLine({ ...running({ detached: true }), pid: 200 }, NOW)).toContain('(session s1, ann@box, detached)')
    expect(holderLine({ ...running({ tty: null }), pid: 200 }, NOW)).toContain('(session s1, ann@box, no terminal)')
  })
  test('is told to programs', () => {
    expect(holderFacts({ ...running({ detached: true }), pid: 200 })).toEqual({
      session: 's1',
      run: 'r000000000001',
      pid: 200,
      since: '2026-01-02T10:57:55.000Z',
      dir: '/home/ann/project',
      host: 'box',
      user: 'ann',
      tty: '/dev/pts/3',
      attach: 'holdfast attach s1',
    })
  })
  test('in the foreground is not offered for attaching', () => {
    expect(attachCommand({ detached: false, session: 's1' })).toBeNull()
    expect(attachCommand({ detached: true, session: 's1' })).toBe('holdfast attach s1')
  })
})

test('a member is told with its proof', () => {
  const told = { pid: 200, parent: 1, group: 200, session: 50, uid: 1000, state: 'S', name: 'p200', proof: 'marker', ports: [] }
  expect(memberJson(member(200))).toEqual(told)
})
