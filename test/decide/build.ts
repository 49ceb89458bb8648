import fc from 'fast-check'
import type { Holding, LockVerdict, Seen } from '../../src/decide/index.ts'
import type {
  DaemonRecord,
  Directory,
  Ended,
  ExitRecord,
  Fact,
  Intent,
  LiveRun,
  Lock,
  Member,
  Place,
  ProcessRow,
  RunBase,
  Running,
  Session,
  Starting,
  Stopping,
  Survivor,
  Tree,
} from '../../src/model/index.ts'
import { DAEMON_PROTOCOL, END_STATES, markerFrom } from '../../src/model/index.ts'

/** Runs, facts and rows for tests: each with ordinary values, of which a test names only what it is about. */

export const NOW = Date.UTC(2026, 0, 2, 12, 0, 0)
export const MARKER = markerFrom(1, 'run')
export const OTHER_MARKER = markerFrom(2, 'run')
export const HELPER_MARKER = markerFrom(3, 'helper')

export const place: Place = { install: 'i1', machine: 'm1', boot: 'b1', pidNamespace: 'pid:[1]', timeNamespace: 'time:[1]' }
export const keeper = { pid: 100, ticks: 1000 }
export const harness = { pid: 200, ticks: 2000 }
export const intent: Intent = { end: 'stopped', by: 'ann@box', reason: 'asked by ann' }

const base: RunBase = {
  id: 'r000000000001',
  session: 's1',
  epoch: 3,
  place,
  launcher: { pid: 90, ticks: 900 },
  marker: MARKER,
  cookie: 'mine',
  argv: ['claude', '--resume'],
  dir: '/home/ann/project',
  detached: false,
  until: 'harness',
  deadlineAt: null,
  parent: null,
  independent: false,
  containment: { level: 'cgroup', path: '/cg/holdfast-i1-r000000000001' },
  task: null,
  adopted: false,
  budget: null,
  budgetCost: null,
  tmux: null,
  host: 'box',
  user: 'ann',
  tty: '/dev/pts/3',
  startedAt: NOW - 3_725_000,
}
export const starting = (over: Partial<Starting> = {}): Starting => ({ ...base, state: 'starting', keeper: null, ...over })
export const running = (over: Partial<Running> = {}): Running => ({ ...base, state: 'running', keeper, ...over })
export const stopping = (over: Partial<Stopping> = {}): Stopping => ({
  ...base,
  state: 'stopping',
  keeper,
  intent: null,
  exit: null,
  survivors: [],
  ...over,
})
export const ended = (over: Partial<Ended> = {}): Ended => ({
  ...base,
  state: 'completed',
  keeper,
  harness,
  exit: { code: 0, signal: null },
  reason: 'exit code 0',
  evidence: ["the keeper's exit record: exit code 0", 'no process of it was found'],
  by: 'keeper',
  endedAt: NOW - 65_000,
  ...over,
})
export const session = (over: Partial<Session> = {}): Session => ({
  id: 's1',
  name: null,
  epoch: 3,
  dir: base.dir,
  argv: base.argv,
  createdAt: base.startedAt,
  harness: null,
  native: null,
  wentTo: null,
  ...over,
})

export const alive: Fact = { kind: 'alive', frozen: false }
export const gone = (waitStatus: number | null = null, why = 'no such process'): Fact => ({ kind: 'gone', why, waitStatus })
export const unknown = (why = 'EACCES'): { readonly kind: 'unknown'; readonly why: string } => ({ kind: 'unknown', why })
export const empty: Tree = { kind: 'empty' }

/** A pid's row with ticks ten times its pid, so that a higher pid is a younger process. */
export const row = (pid: number, over: Partial<ProcessRow> = {}): ProcessRow => ({
  pid,
  ticks: pid * 10,
  state: 'S',
  parent: 1,
  group: pid,
  session: 50,
  uid: 1000,
  name: `p${pid}`,
  waitStatus: null,
  marker: null,
  ...over,
})
export const member = (pid: number, over: Partial<ProcessRow> = {}): Member => ({ row: row(pid, { marker: MARKER, ...over }), proof: 'marker' })
export const withMembers = (...members: readonly Member[]): Tree => ({ kind: 'members', members })

/** The exit record of a keeper, with the code as a shell gives it. */
export const record = (code: number, told: string | null = null, signal: string | null = null): ExitRecord => ({
  exit: { code, signal },
  told,
  at: NOW - 1000,
})
/** A run that is well: its keeper and harness are alive. */
export const seen = (over: Partial<Seen> = {}): Seen => ({
  launcher: gone(),
  keeper: alive,
  harness: alive,
  tree: null,
  exit: null,
  notStarted: null,
  intent: null,
  ...over,
})
/** A run of which nothing is left, and nothing tells how it ended. */
export const seenGone = (over: Partial<Seen> = {}): Seen => seen({ keeper: gone(), harness: gone(), tree: empty, ...over })

/* Anything the world may answer, for properties. */

/** Nothing as often as something: in these worlds it is what is missing that matters. */
export const maybe = <T>(some: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(some, { freq: 2 })

const why = fc.constantFrom('EACCES', 'hidepid', 'a timeout')
const aliveFacts: fc.Arbitrary<Fact> = fc.boolean().map((frozen) => ({ kind: 'alive', frozen }))
export const unknownFacts = why.map(unknown)
export const goneFacts = maybe(fc.integer({ min: 0, max: 0xffff })).map((status) => gone(status))
const facts: fc.Arbitrary<Fact> = fc.oneof(aliveFacts, unknownFacts, goneFacts)
const trees: fc.Arbitrary<Tree> = fc.oneof(
  fc.constant(empty),
  unknownFacts,
  fc.uniqueArray(fc.integer({ min: 201, max: 220 }), { minLength: 1, maxLength: 4 }).map((pids) => withMembers(...pids.map((pid) => member(pid)))),
)
const exits = maybe(fc.integer({ min: 0, max: 255 }).map((code) => ({ code, signal: null })))
const records = maybe(fc.tuple(fc.integer({ min: 0, max: 255 }), fc.constantFrom(null, 'TERM', 'HUP')).map(([code, told]) => record(code, told)))
export const intents: fc.Arbitrary<Intent | null> = maybe(
  fc.constantFrom<Intent>(intent, { end: 'superseded', by: 'bob@box', reason: 'taken over by bob' }),
)
const survivors: fc.Arbitrary<Survivor[]> = fc.array(fc.constant({ pid: 300, name: 'sleep', why: 'it did not end' }), { maxLength: 2 })

const anyBase = {
  until: fc.constantFrom('harness' as const, 'tree' as const),
  deadlineAt: maybe(fc.integer({ min: NOW - 1000, max: NOW + 1000 })),
  detached: fc.boolean(),
}
const keepers = maybe(fc.constant(keeper))
/** As stores hold them: a run is `starting` until its keeper is on record, and can be stopped before that. */
export const liveRuns: fc.Arbitrary<LiveRun> = fc.oneof(
  fc.record(anyBase).map(starting),
  fc.record(anyBase).map(running),
  fc.record({ ...anyBase, keeper: keepers, intent: intents, exit: exits, survivors }).map(stopping),
)
const seenOf = (run: LiveRun): fc.Arbitrary<Seen> =>
  fc.record({
    launcher: facts,
    keeper: run.keeper === null ? fc.constant(null) : facts,
    harness: maybe(facts),
    neverBegan: fc.boolean(),
    unrecordedKeeper: maybe(facts),
    tree: fc.option(trees),
    exit: records,
    notStarted: maybe(fc.constantFrom(1, 126, 127)),
    intent: intents,
  })
/** A live run with anything that may have been seen of it. */
export const looks: fc.Arbitrary<readonly [LiveRun, Seen]> = liveRuns.chain((run) => fc.tuple(fc.constant(run), seenOf(run)))

export const choices = fc.record({
  onLive: fc.constantFrom('refuse' as const, 'wait' as const, 'attach' as const, 'takeover' as const),
  force: fc.boolean(),
  share: fc.boolean(),
})
export const abouts = fc.record({ ranMs: fc.integer({ min: 0, max: 7_450_000 }), maySignal: fc.boolean(), parentEnded: fc.boolean() })
export const endStates = fc.constantFrom(...END_STATES)

/** `/a/b` lies in `/a`, as on a disk without links; `over` may put it into a repository. */
export function directory(path: string, over: Partial<Directory> = {}): Directory {
  const parts = path.split('/').filter(Boolean)
  const above = parts.map((_, index) => `/${parts.slice(0, index).join('/')}`).toReversed()
  const names = (folder: string): string[] => [`1:${folder}`, `1@${folder}`]
  return { path, key: `1:${path}`, inner: `1@${path}`, above: above.flatMap(names), below: [], repository: null, ...over }
}

let locks = 0
export const lock = (over: Partial<Lock> = {}): Lock => ({
  seq: ++locks,
  directory: directory('/a'),
  holder: {
    kind: 'run',
    launcher: base.launcher,
    keeper,
    marker: MARKER,
    cookie: 'mine',
    containment: base.containment,
    adopted: false,
  },
  place,
  session: 's1',
  run: 'r1',
  since: NOW - 5000,
  reason: 'an agent works here',
  shared: [],
  host: 'box',
  user: 'ann',
  ...over,
})
export const holding = (run: LiveRun, verdict: LockVerdict): Holding => ({
  lock: lock({ run: run.id, session: run.session }),
  relation: 'same',
  worksIn: null,
  run,
  verdict,
})
export const daemonRecord = (over: Partial<DaemonRecord> = {}): DaemonRecord => ({
  format: 1,
  process: { pid: 10, ticks: 100 },
  place,
  marker: null,
  version: '1.0.0',
  protocol: DAEMON_PROTOCOL,
  startedAt: NOW,
  startedBy: 'start',
  socket: '/h/daemon/sock',
  http: null,
  ...over,
})
