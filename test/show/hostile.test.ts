import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Feedback } from '../../src/model/index.ts'
import { PROBLEMS, Problem, type ProblemId, plain, plainParagraph, type WorktreeContent } from '../../src/model/index.ts'
import * as show from '../../src/show/index.ts'
import { daemonRecord, ended, intent, lock, member, NOW, row, running, session, stopping } from '../decide/build.ts'
import { aRequest } from '../decide/work.ts'
import { verifies } from '../requirements.ts'

/** Nothing that steers a terminal, turns text around, breaks a line or cannot be seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
// oxlint-disable-next-line no-control-regex
const OWN_PAINT = /\u001B\[(?:0|1|2|31|32|33|36)m/g

const NASTY = [
  '\u001B[2J',
  '\u001B]0;owned\u0007',
  '\u001B[31m',
  '\u001B[0m',
  '\u009B2J',
  '\u0085',
  '\u007F',
  '\0',
  '\b',
  '\r',
  '\n',
  '\t',
  '\nholdfast: all is well',
  '\u202E',
  '\u2066',
  '\u2069',
  '\u200B',
  '\u200E',
  '\uFEFF',
  '\u2028',
  '\u2029',
  '\u{E0041}',
  '\uD800',
  '\uDC9B',
  'a',
  '/x',
  '漢🙂',
]
const hostile = fc.array(fc.constantFrom(...NASTY), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''))

/** Words that code compares with, and keys: nobody from elsewhere can write them. */
const OURS = new Set(
  'starting running stopping completed failed stopped superseded lost harness tree cgroup scope none alive dead unknown gone held free run process time same inside around session agent nobody ended survivors not-running handed-over health other silent unseen hook registry output busy waiting idle installed updated replaced removed nothing absent ours edited foreign outdated unreadable service by-hand start yes typed no fine note trouble marker proven recorded named here all malformed flock child parent SIGKILL S daemon'.split(
    ' ',
  ),
)

/** The same value, with text from elsewhere in every string that is no word of ours. */
function poisoned<T>(value: T, text: string): T {
  if (typeof value === 'string') return (OURS.has(value) ? value : `${value}${text}`) as T
  if (value instanceof Error) return new Error(`${value.message}${text}`) as T
  if (Array.isArray(value)) return value.map((one: unknown) => poisoned(one, text)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, poisoned(one as unknown, text)])) as T
}

const tokens = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: 0.1 }
const view = {
  session: session({ name: 'n', harness: 'claude', native: 'native' }),
  run: running({ tmux: { socket: '/sock', name: 'pane' }, detached: true, parent: 'outer', budget: 10 }),
  liveness: 'unknown' as const,
  pid: 7,
  activity: { state: 'waiting' as const, since: NOW, how: 'hook' as const },
  note: 'a note',
  tasks: [{ run: ended({ task: 'adopt' }), usage: null }],
  said: { plan: { text: 'plan', at: NOW }, result: { text: 'result', at: NOW } },
  unread: 2,
  worktree: { path: '/wt', branch: 'b', repository: '/repo' },
  sharedWith: ['other'],
  neighbours: ['next'],
  entered: false,
}
const overView = { ...view, run: ended({ reason: 'why', by: 'who', evidence: ['seen'] }), worktree: null }
const stoppingView = { ...view, run: stopping({ intent, survivors: [{ pid: 9, name: 'left', why: 'it did not end' }] }) }
const wentView = { ...view, session: session({ name: 'n', harness: 'claude', native: null, wentTo: 'next' }), run: running() }
const ends: show.End[] = [
  {
    kind: 'ended',
    run: ended({ state: 'stopped' }),
    ended: [{ ...member(5), ports: [80] }],
    spared: [{ row: row(6), why: 'spared' }],
    unrecorded: new Error('no'),
  },
  { kind: 'ended', run: ended({ state: 'failed', exit: { code: 137, signal: 'SIGKILL' } }), ended: [], spared: [], unrecorded: null },
  { kind: 'survivors', run: stopping(), survivors: [{ pid: 9, name: 'left', why: 'it did not end' }], ended: [] },
  { kind: 'unknown', run: running(), why: 'why' },
  { kind: 'alive', run: running() },
  { kind: 'not-running', run: ended() },
  { kind: 'handed-over', run: running(), pid: 4 },
]
const locks = [
  lock({ reason: 'why' }),
  lock({ session: null, run: null, holder: { kind: 'process', by: { pid: 3, ticks: 4 }, name: 'vim', limit: null } as never }),
  lock({ session: null, run: null, holder: { kind: 'time', limit: { at: NOW } } as never }),
]
const record = daemonRecord({ http: 'http://127.0.0.1:1' })
const health = {
  at: NOW,
  healthy: false,
  why: 'why',
  parts: [
    { name: 'part', lastSuccess: null, failures: 2, lastError: 'error', nextTry: NOW, counts: {} },
    { name: 'well', lastSuccess: NOW, failures: 0, lastError: null, nextTry: null, counts: { runs: 1 } },
  ],
}
const sender = { session: null, run: null, how: null, agent: { harness: 'pi', inside: 'outer' }, user: 'ann', host: 'box' }
const anchor = { harness: 'claude', nativeId: 'id', path: '/p', files: [], says: { kind: 'malformed' as const, why: 'why' } }
const owners = [
  { harness: 'claude', nativeId: 'id', how: 'proven' as const, pid: 1, session: 'one' },
  { harness: 'claude', nativeId: 'id', how: 'named' as const, pid: 2, session: null },
]
const unmanaged: show.UnmanagedView = {
  harness: 'claude',
  pid: 3,
  launchers: [],
  nativeId: null,
  named: 'abc',
  dir: '/d',
  startedAt: NOW,
  argv: ['claude', 'x'],
  marked: 'another',
  keptBy: { what: 'its daemon', stop: ['/bin/claude', 'stop'] },
  around: true,
  duplicateOf: owners,
}
const service = { name: 'unit', path: '/u', notes: ['note'] }
const status = {
  ...service,
  file: 'foreign' as const,
  unit: { enabled: true, active: true, state: 'up', pid: 1, trouble: null },
  daemon: 'why not',
  current: false,
  unreachable: null,
  runs: 'unknown' as const,
  disagreement: 'they differ',
}
const homeView = { session: 'id', path: '/w', branch: 'b', repository: '/r', target: 'main' }
const contents = (why: string): WorktreeContent[] => {
  const compared = { seal: { branch: null, head: 'head', tree: 'tree' }, commits: 1, files: 2 }
  return [
    { kind: 'ahead', ...compared },
    { kind: 'in-target', how: 'merged', ...compared },
    { kind: 'unknown', why },
  ]
}
type Given = (paint: show.Paint, text: string) => readonly (readonly string[] | string | null)[]
const on = (text: string) => {
  return <T>(value: T): T => poisoned(value, text)
}
const words = ({ title, text }: { title: string; text: string }): string[] => [title, text]

const aFeedback = (text: string): Feedback => ({
  ...({ id: 'f1', seq: 1, request: 'waaaaa', state: 'delivered', key: null, receipt: null, createdAt: NOW, updatedAt: NOW } as unknown as Feedback),
  text,
  by: text,
})
const failing = (cause: string) => ({ state: 'retrying', cause, failures: 2 }) as never
/** Its ids and states are ours; what people and sources wrote is not. */
function requestView(text: string): show.RequestView {
  const request = aRequest({ summary: text, dir: text, base: text })
  const order = { ...request.order, title: text, text, repo: text, labels: { label: text } }
  return { request: { ...request, order }, column: 'queued', followedBy: null, feedback: [aFeedback(text)] }
}

/** Every function that makes text for people, with every text in what it is given. */
const TEXTS: Readonly<Record<string, Given>> = {
  afterJoinText: (_, text) => [show.afterJoinText(`n${text}`, { state: 'failed', reason: text }, true), show.afterJoinText(`n${text}`, null, true)],
  alsoOwnedText: (_, text) => [show.alsoOwnedText(on(text)(owners))],
  anchorText: (_, text) => [show.anchorText(on(text)(anchor))],
  anchorsFixedText: () => [show.anchorsFixedText(['alive', 'dead'], 1)],
  boardText: (paint, text) => [show.boardText([requestView(text)], 1, NOW, paint)],
  cancelledText: (_, text) => (['cancelled', 'ending'] as const).map((kind) => show.cancelledText({ ...requestView(text), kind, why: text })),
  changeText: (_, text) => [
    show.changeText(on(text)({ session: 'id', from: 'running', to: 'failed', why: 'why', survivors: [{ pid: 9, name: 'left', why: 'why' }] })),
  ],
  checkText: (_, text) =>
    locks.flatMap((one) => [
      show.checkText(
        on(text)({ dir: '/d', state: 'held', own: true, why: 'why', holding: { lock: one, relation: 'same', worksIn: '/w', pid: 1 } }),
        NOW,
      ),
      show.checkText(on(text)({ dir: '/d', state: 'free', own: false, why: 'why', holding: null }), NOW),
    ]),
  choicesText: (_, text) => [show.choicesText(on(text)([{ session: view.session, run: view.run }] as never), NOW)],
  daemonText: (paint, text) => [
    show.daemonText(
      on(text)({
        presence: { kind: 'alive', process: record.process, frozen: false, record },
        answer: { kind: 'health', health },
        health,
        repaired: [],
      }),
      'v',
      NOW,
      paint,
    ),
    show.daemonText(
      on(text)({ presence: { kind: 'unseen', record, why: 'why' }, answer: { kind: 'silent', why: 'why' }, health, repaired: [] }),
      'v',
      NOW,
      paint,
    ),
  ],
  deniedText: (_, text) => [show.deniedText(`id${text}`, on(text)(intent))],
  duplicateText: (_, text) => [show.duplicateText(on(text)({ harness: 'claude', nativeId: 'id', owners, certain: true }))],
  forgottenSessionText: (_, text) =>
    show.forgottenSessionText(on(text)({ session: 'id', runs: 2, worktree: '/w', left: { path: '/w', why: 'why' } })),
  endedShownText: () => [show.endedShownText({ sights: [], older: 2, neverBegan: 1 }, 20)],
  earlierText: (_, text) => [show.earlierText(text, 20)],
  eventsText: (paint, text) => {
    const details: Record<string, Record<string, unknown>> = {
      started: { reason: 'why', more: ['x'] },
      claimed: { argv: 'claude', dir: '/d', pid: 3 },
      asked: { reason: 'why', by: 'ann' },
      exited: { exit: { code: 0, signal: 'SIGTERM' } },
      survivors: { survivors: [{ name: 'sleep', pid: 3 }] },
      ended: { state: 'failed', reason: 'why' },
      adopted: { session: 's', from: 'r' },
      shared: { dir: '/d', with: 's', theirs: '/e' },
      unlocked: { dir: '/d', by: 'ann', reason: 'why' },
      bound: { harness: 'claude', id: 'i', before: 'j' },
      moved: { harness: 'claude', id: 'i', to: 's' },
      conflict: { id: 'i', with: 's' },
      told: { harness: 'claude', event: 'end', reason: 'why' },
      rebound: { from: 's', to: 't' },
      said: { kind: 'plan', text: 'text' },
      messaged: { from: 's' },
      activity: { state: 'odd', before: 'busy', lasted: 3 },
      refused: { wanted: 'directory', dir: '/d', program: 'p' },
      daemon: { what: 'what', why: 'why', pid: 3, by: 'start' },
    }
    const events = Object.entries(details).map(([kind, detail]) => ({
      seq: 1,
      at: NOW,
      kind,
      session: 'id',
      run: 'r',
      epoch: 1,
      detail: on(text)(detail),
    }))
    return [show.eventsText(events as never, NOW, paint)]
  },
  explainedText: (paint, text) => [
    show.explainedText(
      { id: 'w1', title: text, state: 'queued', cause: null, reason: null, because: [text], next: { command: text, does: text } },
      paint,
    ),
  ],
  feedbackAddedText: () => [show.feedbackAddedText(aFeedback('text'))],
  feedbackText: (paint, text) => [show.feedbackText([aFeedback(text)], NOW, paint)],
  findingsText: (paint, text) => [show.findingsText(on(text)([{ topic: 'topic', level: 'note', what: 'what', next: 'next' }]), paint)],
  finishedText: (_, text) => ends.map((end) => show.finishedText(on(text)(end))),
  heldBackText: () => [words(show.heldBackText(3))],
  hookChangeText: (_, text) => [show.hookChangeText(on(text)({ harness: 'claude', path: '/p', did: 'installed', events: ['event'], note: 'note' }))],
  hookStatesText: (paint, text) => [
    show.hookStatesText(on(text)([{ harness: 'claude', path: '/p', state: 'unreadable', trouble: 'why', note: null, trusted: null }]), paint),
  ],
  installedText: (_, text) => [show.installedText(on(text)({ ...service, did: 'installed', replaced: 1, pid: 2 }))],
  levelText: (_, text) => [show.levelText({ level: 'none', why: text }), show.levelText({ level: 'cgroup', path: text })],
  litterText: (_, text) => [show.litterText(on(text)([{ what: 'what', why: 'why', keep: true }]), false)],
  lockedText: (_, text) => locks.map((one) => show.lockedText(on(text)(one))),
  locksText: (paint, text) => [
    show.locksText(
      on(text)(
        locks.map((one) => ({
          lock: one,
          movedTo: '/m',
          state: 'unknown' as const,
          pid: 1,
          proof: 'proof',
          leftMs: 1,
          sharedWith: ['s'],
          neighbours: ['n'],
        })),
      ),
      NOW,
      paint,
    ),
  ],
  discardedText: (_, text) =>
    contents(text).map((content) => show.discardedText({ ...on(text)({ ...homeView, ref: 'ref' }), content, branchStays: true })),
  leftText: (_, text) => contents(text).map((content) => show.leftText({ ...on(text)(homeView), content, unsaved: 1 })),
  mergedText: (_, text) => [
    show.mergedText({ ...on(text)(homeView), isGone: false, answer: { kind: 'merged', how: 'merge-commit', commits: 1, files: 2 } }),
  ],
  membersText: (_, text) => [show.membersText(on(text)([member(3)]))],
  messageText: (paint, text) => [
    show.messageText(
      on(text)({
        messages: [{ seq: 1, at: NOW, expiresAt: NOW, from: sender, to: 'here', text: 'text', sentTo: { run: 'r1', endedAt: NOW } }],
        left: 1,
      }),
      NOW,
      paint,
    ),
  ],
  messagesText: (_, text) => [show.messagesText({ count: 1, earlier: 0, from: text })],
  moreText: () => [show.moreText(2)],
  newsText: (_, text) => [
    show.newsText(
      on(text)({
        first: true,
        joined: [{ session: 'id', harness: 'claude', plan: 'plan' }],
        left: [],
        messages: { count: 1, from: 'id' },
        retired: { session: 'id', intent },
        notices: ['notice'],
      } as never),
    ),
  ],
  notificationText: (_, text) => [
    words(show.notificationText('finished', { detail: on(text)({ state: 'failed', reason: 'why' }) }, text, 500)),
    words(show.notificationText('refused', { detail: on(text)({ command: 'c', pid: 1, user: 'u', wanted: 'session' }) }, text, 500)),
  ],
  problemText: (paint, text) => [show.problemText({ message: text, hint: text }, paint)],
  reapedText: (_, text) => [show.reapedText(on(text)([{ what: 'what' }]), 3)],
  removedText: (_, text) => [show.removedText(on(text)({ ...service, did: 'removed' }))],
  repeatedText: (_, text) => [show.repeatedText(requestView(text))],
  requestAddedText: (_, text) => [show.requestAddedText(requestView(text))],
  requestFinishedText: (_, text) => (['reported', 'accepted'] as const).map((kind) => show.requestFinishedText({ ...requestView(text), kind })),
  requestText: (paint, text) => [show.requestText({ ...requestView(text), story: [] }, NOW, paint)],
  retiredText: (_, text) => ends.map((end) => show.retiredText(on(text)(end))),
  senderText: (_, text) => [
    show.senderText(on(text)(sender)),
    show.senderText(on(text)({ ...sender, agent: null })),
    show.senderText({ ...sender, session: text }),
  ],
  sentIntoText: (_, text) => [show.sentIntoText(on(text)({ session: 'id', taken: 'no', why: 'why' }))],
  sentText: (_, text) => [show.sentText(on(text)({ seq: 1, reached: ['id'], full: [], gone: [], notes: ['note'] }))],
  serviceText: (paint, text) => [
    show.serviceText(on(text)(status), paint),
    show.serviceText(on(text)({ ...status, unit: null, unreachable: 'why' }), paint),
  ],
  sessionsText: (paint, text) => [show.sessionsText(on(text)([view, overView, stoppingView, wentView]), NOW, paint)],
  siblingsText: (paint, text) => [
    show.siblingsText(
      on(text)({
        self: 'me',
        here: true,
        siblings: [
          {
            sight: { ...view, tokens: { run: tokens, session: tokens, whole: true, unwatched: null } },
            relation: 'parent' as const,
            branch: 'b',
            said: view.said,
            locks: ['/l'],
            ports: [80],
          },
        ],
      }),
      5,
      NOW,
      paint,
    ),
  ],
  sourceCheckText: (_, text) => [
    show.sourceCheckText(
      text,
      [true, false].flatMap((passed) => [
        on(text)({ step: 'step', expects: 'what', passed, found: passed ? null : 'found' }),
        on(text)({ step: 'step', expects: 'what', passed, found: null, leftOut: true as const }),
      ]),
    ),
  ],
  sourceText: (_, text) => [show.sourceText(text, failing(text)).split('\n')],
  statusText: (paint, text) =>
    [view, overView, stoppingView, wentView].flatMap((one) =>
      [true, false].map((whole) => show.statusText(on(text)(one), { now: NOW, paint, whole })),
    ),
  stoppedText: (_, text) => ends.map((end) => show.stoppedText(`id${text}`, on(text)(end))),
  stuckText: (_, text) => ends.slice(0, 5).map((end) => show.stuckText(on(text)(end) as never, 3)),
  strangersText: () => [show.strangersText(2)],
  suspectText: (_, text) => [show.suspectText([text], [text])],
  tasksText: (paint, text) => [show.tasksText(on(text)([{ run: ended({ task: 'adopt' }), usage: null, parent: 'outer' }]), NOW, paint)],
  taskText: (_, text) => {
    const nested = { harness: 'codex', nativeId: null, pid: 5, startedBy: { pid: 4, name: 'claude' } }
    return [
      { run: ended({ task: 'adopt' }), usage: null },
      { run: running(), usage: null, nested },
    ].map((one) => show.taskText(on(text)(one), NOW))
  },
  tokensText: () => [show.tokensText(tokens)],
  uninstalledText: (_, text) => [
    show.uninstalledText(
      on(text)({
        hooks: [{ harness: 'claude', path: '/p', did: 'removed' as const, events: ['event'], note: null }],
        service: { name: 'name', path: '/p', did: 'removed' as const, notes: ['note'] },
        daemon: 3,
        completions: ['/c'],
        left: [{ what: 'what', path: '/l' }],
        trouble: [{ message: 'message', hint: 'hint' }],
      }),
    ),
  ],
  treeText: (paint, text) => [
    show.treeText(
      on(text)({ members: [member(3)], suspects: [{ row: row(4), pro: ['pro'], contra: ['contra'] }], spared: [{ row: row(5), why: 'why' }] }),
      paint,
    ),
  ],
  unlockedText: (_, text) => locks.flatMap((one) => [true, false].map((broken) => show.unlockedText(on(text)({ lock: one, broken }), NOW))),
  unmanagedText: (paint, text) => [show.unmanagedText(on(text)([unmanaged]), NOW, paint)],
  unreadableRunText: (_, text) => [show.unreadableRunText(on(text)({ run: 'r1', path: '/p', pid: 1, why: 'why', next: 'next' }))],
  unreadableText: (_, text) => [show.unreadableText(text, text)],
  versionText: (_, text) => [show.versionText(text, '1.0')],
  whoText: (_, text) => [
    show.whoText(on(text)({ kind: 'nobody', why: 'why' })),
    show.whoText(
      on(text)({
        kind: 'agent',
        agent: { harness: 'pi', row: row(3), launchers: [], argv: [], cwd: null, nativeId: null, named: null },
        inside: null,
        why: 'why',
      }),
    ),
    show.whoText(on(text)({ kind: 'session', session: view.session, run: running(), how: 'marker', why: 'why', note: 'note' } as never)),
  ],
  workPassText: (_, text) => [
    show.workPassText({ changes: [text], troubles: [{ request: 'w1', step: 'step', why: text }] } as never, [
      { name: text, health: failing(text) } as never,
    ]),
  ],
  workflowText: (_, text) => [
    show.workflowText({
      repo: text,
      source: { kind: 'found', branch: text, commit: text },
      work: { kind: 'blocked', why: text, hint: text },
      read: { trouble: text },
    } as never),
  ],
}

/** They make text for programs, or have their own tests below. */
const OTHERS = ['jsonText', 'metricsText', 'terminalText']

test('every function that makes text is asked', () => {
  const all = Object.keys(show).filter((name) => name.endsWith('Text'))
  expect([...Object.keys(TEXTS), ...OTHERS].sort()).toEqual(all.sort())
})

const linesOf = (given: ReturnType<Given>): string[] => given.flatMap((one) => one ?? [])

/** They reach a model, a desktop or a file without a door of ours behind them. */
const NO_DOOR = ['deniedText', 'newsText', 'messagesText', 'notificationText', 'heldBackText', 'problemText']
const KEY = 'k3y'

describe('text from elsewhere steers no terminal and breaks no line', () => {
  describe.each(Object.entries(TEXTS))('%s', (name, given) => {
    verifies('visible', 'neither as it is nor in colours, behind the last door', () =>
      fc.assert(
        fc.property(hostile, (text) => {
          const bare = linesOf(given(show.painter(false), text))
          if (NO_DOOR.includes(name)) for (const line of bare) expect(line).not.toMatch(UNSEEN)
          const through = bare.map((line) => show.doorLine(line, null))
          for (const line of through) expect(line.replaceAll('\t', '')).not.toMatch(UNSEEN)
          const painted = linesOf(given(show.painter(true, KEY), text)).map((line) => show.doorLine(line, KEY))
          // Only we colour: without our colours it is the very same text.
          expect(painted.map((line) => line.replaceAll(OWN_PAINT, ''))).toEqual(through)
        }),
        { numRuns: 60 },
      ),
    )
  })
})

verifies('visible', 'no refusal steers a terminal, whatever stands in it', () =>
  fc.assert(
    fc.property(fc.constantFrom(...(Object.keys(PROBLEMS) as ProblemId[])), hostile, hostile, (id, message, hint) => {
      const problem = new Problem(id, `unknown ${message}`, { hint: `say ${hint}`, detail: { dir: message } })
      const lines = show.problemText(problem, show.painter(false))
      expect(lines).toHaveLength(2)
      for (const line of lines) expect(line).not.toMatch(UNSEEN)
      const json = show.jsonText(show.problemJson(problem))
      expect(json).not.toMatch(UNSEEN)
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(show.problemJson(problem))))
    }),
  ),
)

describe('the one function', () => {
  verifies('visible', 'of several lines none is taken for the first of another', () =>
    fc.assert(
      fc.property(hostile, (text) => {
        const [first = '', ...more] = plainParagraph(`a bug: ${text}`).split('\n')
        expect(first.startsWith('a bug: ')).toBe(true)
        for (const line of [first, ...more]) expect(line).not.toMatch(UNSEEN)
        for (const line of more) expect(line).toMatch(/^ /)
      }),
    ),
  )
  test('what everybody can read stays as it is', () => {
    for (const text of ['fix: größer — 漢字 🙂 «x» ١٢', '\u00A0 ~']) expect(plain(text)).toBe(text)
  })
})

describe('JSON', () => {
  test('is the same value, and an object on one line', () =>
    fc.assert(
      fc.property(fc.jsonValue(), hostile, (value, text) => {
        const json = show.jsonText({ value, text })
        expect(json).not.toMatch(UNSEEN)
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ value, text })))
      }),
    ))
  test('with an indent its own lines stay', () => expect(show.jsonText({ a: '\u009B' }, 2)).toBe('{\n  "a": "\\u009b"\n}'))
})

describe("an agent's output on a terminal", () => {
  const shown = (...chunks: readonly (string | Uint8Array)[]): string => {
    const text = show.terminalText()
    return chunks.map((chunk) => text.take(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)).join('') + text.end()
  }
  test('colours and lines stay; nothing else is obeyed', () => {
    expect(shown('a\tb\r\n\u001B[1;31mred\u001B[m \u001B[2J\u001B]52;c;eA==\u0007\u009B2J\n')).toBe(
      'a\tb\r\n\u001B[1;31mred\u001B[m ·[2J·]52;c;eA==··2J\n\u001B[0m',
    )
  })
  test('a raw control of eight bits is no character', () => expect(shown(Uint8Array.of(0x9b, 0x32, 0x4a))).toBe('\uFFFD2J'))
  test('wherever it is cut', () => {
    // oxlint-disable-next-line no-control-regex
    const COLOUR = /\u001B\[[\d;:]*m/g
    // oxlint-disable-next-line no-control-regex
    const CSI = /\u001B(?!\[[\d;:]*m)/
    fc.assert(
      fc.property(fc.array(fc.oneof(hostile, fc.constantFrom('\u001B[3', '1m', '\u001B', '[32m', '[2J', 'é')), { maxLength: 12 }), (parts) => {
        const whole = shown(parts.join(''))
        const bytes = Buffer.from(parts.join(''))
        expect(shown(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toBe(whole)
        expect(whole).not.toMatch(CSI)
        expect(whole.replaceAll(COLOUR, '').replaceAll(/[\n\r\t]/g, '')).not.toMatch(UNSEEN)
      }),
    )
  })
})
