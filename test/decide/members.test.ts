import { describe, expect, test } from 'vitest'
import type { Census, Clues, Neighbours, Questions, TreeRecord } from '../../src/decide/index.ts'
import { census, neighboursFrom, suspectsOf, treeOf } from '../../src/decide/index.ts'
import type { ProcessRow, RunRoot } from '../../src/model/index.ts'
import { markerFrom } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { HELPER_MARKER, harness, keeper, MARKER, OTHER_MARKER, place, row } from './build.ts'

const record = (over: Partial<TreeRecord> = {}): TreeRecord => ({
  id: 'r1',
  marker: MARKER,
  cookie: 'mine',
  keeper,
  harness,
  beginning: true,
  uid: () => 1000,
  ...over,
})
/** Runs on record: its own; a stranger's, with its keeper as pid 500; one that was started in it, with its keeper as pid 700. */
const THIRD_MARKER = markerFrom(7, 'run')
const root = (id: string, over: Partial<RunRoot>): RunRoot => ({
  id,
  parent: null,
  marker: null,
  cookie: id,
  place,
  root: null,
  hosted: false,
  ...over,
})
const RUNS: readonly RunRoot[] = [
  root('r1', { marker: MARKER, cookie: 'mine', root: keeper }),
  root('r2', { marker: OTHER_MARKER, cookie: 'theirs', root: { pid: 500, ticks: 5000 } }),
  root('r3', { marker: THIRD_MARKER, cookie: 'inner', root: { pid: 700, ticks: 7000 }, parent: 'r1' }),
]
/** Of the run in ours, ours is named as well. */
const secretsOf = (cookie: string | null): string[] => (cookie === null ? [] : cookie === 'inner' ? ['mine', 'inner'] : [cookie])
const nearOf = (rows: readonly ProcessRow[], over: Partial<Questions> = {}, runs = RUNS): Neighbours =>
  neighboursFrom(runs, {
    helper: null,
    server: () => null,
    daemon: () => null,
    cgroupRun: () => null,
    secrets: (pid) => secretsOf(rows.find((one) => one.pid === pid)?.cookie ?? null),
    ...over,
  })
const count = (rows: readonly ProcessRow[], over: Partial<TreeRecord> = {}, asked: Partial<Questions> = {}): Census =>
  census({ rows, blind: null }, record(over), nearOf(rows, asked))
const proofs = ({ members }: Census): Record<number, string> => Object.fromEntries(members.map(({ row: { pid }, proof }) => [pid, proof]))

/** The keeper and the harness, as they are in almost every table. */
const mine = { marker: MARKER }
const theKeeper = row(100, { ...mine, session: 100 })
const theHarness = row(200, { ...mine, parent: 100 })
const unmarked = { marker: null }
const inSession = (one: ProcessRow): ProcessRow => ({ ...one, session: 100 })
const helping = { marker: HELPER_MARKER }
/** The keeper, once it has given the run's marker away. */
const keeping = row(100, { ...helping, session: 100 })
const unrecorded = { marker: markerFrom(9, 'run') }

/** One that a shared daemon has started for it, with the marker of another run. */
const lent = (pid: number): Partial<TreeRecord> => ({ ours: [{ pid, ticks: pid * 10 }], leaked: new Set([OTHER_MARKER]) })

type Case = readonly [what: string, rows: readonly ProcessRow[], members: Record<number, string>, over?: Partial<TreeRecord>]
const tables: Readonly<Record<string, readonly Case[]>> = {
  'by marker': [
    ['whoever has it is a member, whatever its ancestry', [row(300, mine)], { 300: 'marker' }],
    ['the keeper has it and is none', [theKeeper, theHarness], { 200: 'marker' }],
    ['without a keeper on record it still counts', [row(300, mine)], { 300: 'marker' }, { keeper: null, harness: null }],
  ],
  'a marker takes nobody out': [
    [
      'a child that wears the marker of a stranger’s run is ours, and so are its children',
      [theHarness, row(300, { marker: OTHER_MARKER, parent: 200 }), row(310, { ...unmarked, parent: 300 })],
      { 200: 'marker', 300: 'descendant', 310: 'descendant' },
    ],
    ['or that of a helper', [theHarness, row(300, { marker: HELPER_MARKER, parent: 200 })], { 200: 'marker', 300: 'descendant' }],
    [
      'or that of a run which was started in ours, without its secret',
      [theHarness, row(300, { marker: THIRD_MARKER, parent: 200 })],
      { 200: 'marker', 300: 'descendant' },
    ],
    ['the agent itself, whatever it wears', [keeping, row(200, { marker: OTHER_MARKER, parent: 100 })], { 200: 'recorded' }],
    [
      'one in a session that we lead',
      [row(300, { ...mine, session: 300 }), row(310, { marker: OTHER_MARKER, session: 300 })],
      { 300: 'marker', 310: 'session' },
    ],
    ['one that was seen before', [row(300, { marker: OTHER_MARKER })], { 300: 'journal' }, { journal: [{ pid: 300, ticks: 3000 }] }],
    ['a marker that no run on record has', [theHarness, row(300, { ...unrecorded, parent: 200 })], { 200: 'marker', 300: 'descendant' }],
    ['which makes nobody ours, either', [row(300, unrecorded)], {}],
  ],
  'a run that proves it from its own side': [
    [
      'keeps its keeper and what descends from that, below our agent',
      [
        theHarness,
        row(500, { marker: HELPER_MARKER, parent: 200 }),
        row(510, { marker: OTHER_MARKER, parent: 500 }),
        row(520, { ...mine, parent: 510 }),
      ],
      { 200: 'marker' },
    ],
    ['but not a new tenant of its keeper’s pid', [theHarness, row(500, { parent: 200, ticks: 5001 })], { 200: 'marker', 500: 'descendant' }],
    [
      'one that was started in ours keeps its orphans, by marker and secret',
      [theHarness, row(300, { marker: THIRD_MARKER, cookie: 'inner', parent: 200 })],
      { 200: 'marker' },
    ],
  ],
  'a marker brings nobody in': [
    ['whom another user put on', [row(300, { ...mine, uid: 1001 })], {}],
    ['who has the secret of another run', [row(300, { ...mine, cookie: 'theirs' })], {}],
    ['or of one that is over', [row(300, { ...mine, cookie: 'long ago' })], {}],
    ['but the secret of a run in ours is none against it', [row(300, { ...mine, cookie: 'inner' })], { 300: 'marker' }],
    ['a user’s other process below our agent is ours', [theHarness, row(300, { parent: 200, uid: 0 })], { 200: 'marker', 300: 'descendant' }],
    ['where nobody knows whose the run is, the marker has to do', [row(300, { ...mine, uid: 1001 })], { 300: 'marker' }, { uid: () => null }],
  ],
  'by cookie, only where no marker could be set': [
    ['a cookie is proof', [row(300, { cookie: 'mine' })], { 300: 'cookie' }, { marker: null }],
    ["another run's cookie is none", [row(300, { cookie: 'other' })], {}, { marker: null }],
    ['with a marker expected it is none', [row(300, { cookie: 'mine' })], {}],
    [
      'and with a marker expected another cookie excludes nobody',
      [theHarness, row(300, { parent: 200, cookie: 'other' })],
      { 200: 'marker', 300: 'descendant' },
    ],
  ],
  'by the word of its harness': [
    ['one that a daemon lends to it, however old', [row(20, { parent: 10 })], { 20: 'harness-id' }, { ours: [{ pid: 20, ticks: 200 }] }],
    ['a new tenant of its pid', [row(20)], {}, { ours: [{ pid: 20, ticks: 201 }] }],
    ['whatever marker came to it through the daemon', [row(300, { marker: OTHER_MARKER })], { 300: 'harness-id' }, lent(300)],
    [
      'and what it starts, with the same marker or none',
      [row(300, { marker: OTHER_MARKER }), row(310, { marker: OTHER_MARKER, parent: 300 }), row(320, { ...unmarked, parent: 310 })],
      { 300: 'harness-id', 310: 'descendant', 320: 'descendant' },
      lent(300),
    ],
    [
      'but not a run that was started in it, which has a keeper of its own',
      [row(300, { marker: OTHER_MARKER }), row(700, { marker: HELPER_MARKER, parent: 300 }), row(720, { ...unmarked, parent: 700 })],
      { 300: 'harness-id' },
      lent(300),
    ],
    ['the same marker on anybody else makes nobody ours', [theHarness, row(310, { marker: OTHER_MARKER })], { 200: 'marker' }, lent(300)],
    [
      'although a spared daemon started it',
      [row(250, mine), row(260, { ...mine, parent: 250 }), row(270, { ...mine, parent: 260 }), row(280, { ...mine, parent: 250 })],
      { 260: 'marker', 270: 'marker' },
      { spared: [{ pid: 250, ticks: 2500 }], ours: [{ pid: 260, ticks: 2600 }] },
    ],
  ],
  'by recorded identity': [
    ['the harness that lost its marker', [row(200, { ...unmarked, cookie: 'mine' })], { 200: 'recorded' }],
    ['the harness that lost its marker and its secret, and still is in the session of its keeper', [row(200, { session: 100 })], { 200: 'recorded' }],
    ['a new tenant of its pid', [row(200, { ...unmarked, ticks: 2001 })], {}],
  ],
  'by descent': [
    [
      'children and their children',
      [row(200, { ...unmarked, cookie: 'mine' }), row(300, { parent: 200 }), row(310, { parent: 300 })],
      { 200: 'recorded', 300: 'descendant', 310: 'descendant' },
    ],
    [
      'whichever row comes first',
      [row(310, { parent: 300 }), row(300, { parent: 200 }), theHarness],
      { 200: 'marker', 300: 'descendant', 310: 'descendant' },
    ],
    ['born in the same tick', [theHarness, row(300, { parent: 200, ticks: 2000 })], { 200: 'marker', 300: 'descendant' }],
    ['a child older than its parent met a pid used again', [theHarness, row(300, { parent: 200, ticks: 1999 })], { 200: 'marker' }],
    ['children of strangers', [theHarness, row(300, { parent: 1 })], { 200: 'marker' }],
  ],
  'by process session': [
    ['its leader is a member', [row(300, { ...mine, session: 300 }), row(310, { session: 300 })], { 300: 'marker', 310: 'session' }],
    ["its leader is none: the user's own terminal", [row(50, { session: 50 }), row(200, mine), row(310, { session: 50 })], { 200: 'marker' }],
    [
      'its leader is the keeper',
      [theKeeper, inSession(theHarness), row(310, { session: 100 })],
      { 200: 'marker', 310: 'session' },
      { detached: true },
    ],
    [
      'its leader was the keeper, and the agent is in it',
      [inSession(theHarness), row(310, { session: 100 })],
      { 200: 'marker', 310: 'session' },
      { detached: true },
    ],
    ['its leader was the keeper, and nobody else is in it that is known', [row(310, { session: 100 })], {}, { detached: true }],
    ['the same, with the secret', [row(310, { session: 100, cookie: 'mine' })], { 310: 'cookie' }, { detached: true }],
    [
      'a keeper that was a shell of somebody’s leads strangers, too',
      [theKeeper, inSession(theHarness), row(310, { session: 100 })],
      { 200: 'marker' },
    ],
    ['the same, with the secret', [theKeeper, inSession(theHarness), row(310, { session: 100, cookie: 'mine' })], { 200: 'marker', 310: 'cookie' }],
    [
      'its leader was one seen before, and so is one in it',
      [row(310, { session: 300 }), row(320, { session: 300 })],
      { 310: 'session', 320: 'journal' },
      {
        journal: [
          { pid: 300, ticks: 3000 },
          { pid: 320, ticks: 3200 },
        ],
      },
    ],
    [
      'its number was that of one seen before, who may never have led one',
      [row(310, { session: 300 })],
      {},
      { journal: [{ pid: 300, ticks: 3000 }] },
    ],
    ['the same, with the secret', [row(310, { session: 300, cookie: 'mine' })], { 310: 'cookie' }, { journal: [{ pid: 300, ticks: 3000 }] }],
    [
      'in the keeper’s session, but older than the agent',
      [theKeeper, inSession(theHarness), row(199, { session: 100 })],
      { 200: 'marker' },
      { detached: true },
    ],
    ['in the session of a new tenant of the keeper’s pid', [row(100, { ticks: 3000, session: 100 }), row(310, { session: 100 })], {}],
    ['the member of that pid leads no session', [row(300, { ...mine, session: 50 }), row(310, { session: 300 })], { 300: 'marker' }],
    ['older than its leader', [row(300, { ...mine, session: 300 }), row(310, { session: 300, ticks: 2999 })], { 300: 'marker' }],
  ],
  'the keeper and its helpers': [
    [
      'a helper is none: it is the keeper’s child with the keeper’s marker',
      [keeping, theHarness, row(300, { ...helping, parent: 100 })],
      { 200: 'marker' },
    ],
    ['nor is what it starts', [keeping, theHarness, row(300, { ...helping, parent: 100 }), row(310, { parent: 300 })], { 200: 'marker' }],
    ['the same marker below the agent is worn', [keeping, theHarness, row(300, { ...helping, parent: 200 })], { 200: 'marker', 300: 'descendant' }],
    [
      'an orphan with another marker that the keeper inherited is a member',
      [keeping, row(300, { parent: 100, ...unrecorded })],
      { 300: 'descendant' },
    ],
    ['a job of the shell that became the keeper is none', [keeping, row(150, { parent: 100 }), row(160, { parent: 150, session: 100 })], {}],
    ['an orphan that the keeper inherited is a member', [theKeeper, row(300, { ...mine, parent: 100 })], { 300: 'marker' }],
    ['a new tenant of its pid can be a member', [row(100, { ...mine, ticks: 1001 })], { 100: 'marker' }],
  ],
  'the helpers of a keeper without a marker': [
    ['are all its children but the harness', [row(100), row(200, { parent: 100 }), row(300, { parent: 100 })], { 200: 'recorded' }, { marker: null }],
    ['even with the cookie', [row(100), row(300, { parent: 100, cookie: 'mine' })], {}, { marker: null }],
    [
      'but not those of a new tenant of its pid',
      [row(100, { ticks: 1001 }), row(300, { parent: 100, cookie: 'mine' })],
      { 300: 'cookie' },
      { marker: null },
    ],
  ],
  'before the pid file exists': [
    ['the keeper’s marked child is a member', [theKeeper, row(150, { ...mine, parent: 100 })], { 150: 'marker' }, { harness: null }],
    ['where no marker could be set, each child is', [row(100), row(150, { parent: 100 })], { 150: 'descendant' }, { harness: null, marker: null }],
    [
      'and theirs',
      [row(100), row(150, { parent: 100 }), row(160, { parent: 150 })],
      { 150: 'descendant', 160: 'descendant' },
      { harness: null, marker: null },
    ],
    ['a child older than the keeper is none', [theKeeper, row(150, { parent: 100, ticks: 999 })], {}, { harness: null }],
    ['the keeper itself is none', [theKeeper], {}, { harness: null }],
  ],
  'the dead': [
    ['are no members', [...'ZXx'].map((state, index) => row(300 + index, { ...mine, state })), {}],
    ['and prove nothing for others', [row(200, { ...mine, state: 'Z' }), row(300, { parent: 200 })], {}],
    ['the frozen are not dead', [row(300, { ...mine, state: 'T' })], { 300: 'marker' }],
  ],
}
for (const [topic, cases] of Object.entries(tables)) {
  describe(topic, () => {
    for (const [what, rows, members, over] of cases) test(what, () => expect(proofs(count(rows, over))).toEqual(members))
  })
}

describe('a cgroup', () => {
  const inside = (...pids: number[]): Partial<TreeRecord> => ({ contained: new Set(pids) })
  verifies('stop-proof', 'whoever is in it is a member, whatever it has shed', () => {
    expect(proofs(count([theKeeper, theHarness, row(300, unmarked)], inside(200, 300)))).toEqual({ 200: 'cgroup', 300: 'cgroup' })
  })
  verifies('stop-proof', 'no marker makes anybody in it a stranger there', () => {
    const found = count(
      [theHarness, row(300, { marker: OTHER_MARKER }), row(400, helping), row(450, { marker: THIRD_MARKER, cookie: 'inner' })],
      inside(200, 300, 400, 450),
    )
    expect(proofs(found)).toEqual({ 200: 'cgroup', 300: 'cgroup', 400: 'cgroup', 450: 'cgroup' })
    expect(found.strangers).toEqual([])
  })
  verifies('innocent', 'the keeper of another run in it, and all below, are strangers there', () => {
    const found = count([theHarness, row(500, { ...helping, parent: 200 }), row(510, { marker: OTHER_MARKER, parent: 500 })], inside(200, 500, 510))
    expect(proofs(found)).toEqual({ 200: 'cgroup' })
    expect(found.strangers.map(({ pid }) => pid)).toEqual([500, 510])
  })
  verifies('innocent', 'whoever is in that of another run is that run’s, although it wears our marker', () => {
    const asked = { cgroupRun: (pid: number) => (pid >= 300 ? 'r2' : null) }
    const found = count([theHarness, row(300, mine)], inside(200), asked)
    expect(proofs(found)).toEqual({ 200: 'cgroup' })
    expect(found.isOnlyInCgroupOf(row(300, mine))).toBe('r2')
    expect(found.doubtful.map(({ row: { pid }, why }) => [pid, why])).toEqual([[300, 'is in the cgroup of run r2']])
    // That of a run around ours, of one in ours, or of one that is not on record, says nothing.
    for (const id of ['r1', 'r3', 'r9']) expect(proofs(count([row(300, mine)], inside(), { cgroupRun: () => id })), id).toEqual({ 300: 'marker' })
  })
  verifies('stop-proof', 'an agent that moves itself or a child into that of another run stays ours, and is no stranger of its own', () => {
    const rows = [keeping, row(200, { ...mine, parent: 100 }), row(310, { parent: 200 })]
    expect(proofs(count(rows, inside(), { cgroupRun: () => 'r2' }))).toEqual({ 200: 'marker', 310: 'descendant' })
    expect(count(rows, inside(), { cgroupRun: () => 'r2' }).isOnlyInCgroupOf(row(310, { parent: 200 }))).toBeNull()
  })
  test('who left it is still known by other proofs', () => expect(proofs(count([row(300, mine)], inside()))).toEqual({ 300: 'marker' }))
  verifies('unknown', 'empty is proven only when everybody in it was looked at', () => {
    expect(treeOf(count([theKeeper], inside()))).toEqual({ kind: 'empty' })
    expect(treeOf(count([theKeeper], inside(300)))).toMatchObject({ kind: 'unknown' })
    expect(treeOf(count([theKeeper, row(500, helping)], inside(500)))).toEqual({ kind: 'empty' })
  })
  test('it sees what a blind pass does not', () => {
    expect(treeOf(census({ rows: [theKeeper], blind: 'hidepid' }, record(inside()), nearOf([])))).toEqual({ kind: 'empty' })
  })
})

describe('the spared', () => {
  verifies('innocent', 'neither they nor what they started are members, whatever proof they carry', () => {
    const spared = [{ pid: 300, ticks: 3000 }]
    const rows = [theHarness, row(300, mine), row(310, { ...mine, parent: 300 }), row(320, { ...mine, parent: 310 }), row(330, mine)]
    expect(proofs(count(rows, { spared }))).toEqual({ 200: 'marker', 330: 'marker' })
    expect(count(rows, { spared, contained: new Set([200, 300, 310]) }).strangers.map(({ pid }) => pid)).toEqual([300, 310])
  })
  test('a new tenant of a spared pid is not spared', () => {
    expect(proofs(count([row(300, { ...mine, ticks: 9999 })], { spared: [{ pid: 300, ticks: 3000 }] }))).toEqual({ 300: 'marker' })
  })
})

describe('suspects', () => {
  const clues = (over: Partial<Clues> = {}): Clues => ({
    dir: '/work',
    cookie: 'mine',
    marker: MARKER,
    uid: 1000,
    ports: new Set(),
    members: [],
    exempt: () => false,
    cwd: () => null,
    listens: () => [],
    isOnTerminal: () => false,
    until: null,
    ...over,
  })
  const found = (rows: readonly ProcessRow[], over: Partial<Clues> = {}) => suspectsOf(rows, 1000, clues(over))
  const pids = (rows: readonly ProcessRow[], over: Partial<Clues> = {}): number[] => found(rows, over).map(({ row: { pid } }) => pid)

  verifies('innocent', 'a cookie without the expected marker makes a suspect, not a member', () => {
    const copied = row(300, { cookie: 'mine', uid: 1000 })
    expect(proofs(count([theKeeper, theHarness, copied]))).toEqual({ 200: 'marker' })
    expect(found([copied])).toEqual([{ row: copied, pro: ['has the secret of this run in its environment'], contra: ['does not have its marker'] }])
  })
  test('who works in the directory, or below it, but not beside it', () => {
    const cwd = (pid: number): string | null => ({ 300: '/work', 310: '/work/sub', 320: '/workshop', 330: '/' })[pid] ?? null
    expect(
      pids(
        [300, 310, 320, 330].map((pid) => row(pid)),
        { cwd },
      ),
    ).toEqual([300, 310])
  })
  test('who listens where a member did', () => {
    const listens = (pid: number): number[] => (pid === 300 ? [3000, 4000] : pid === 310 ? [80] : [])
    expect(found([row(300), row(310)], { listens, ports: new Set([3000]) }).map(({ pro }) => pro)).toEqual([
      ['listens on port 3000, which this session opened'],
    ])
  })
  const here = { cwd: () => '/work' }
  const named = (name: string, over: Partial<ProcessRow> = {}): ProcessRow => row(300, { name, ...over })
  const people: readonly [what: string, row: ProcessRow, over: Partial<Clues>, suspected: boolean][] = [
    ['a shell on a terminal', named('bash'), { isOnTerminal: () => true }, false],
    ['a login shell on a terminal', named('-zsh'), { isOnTerminal: () => true }, false],
    ['a shell without a terminal', named('bash'), {}, true],
    ['another program on a terminal', named('vim'), { isOnTerminal: () => true }, true],
    ['a tmux server', named('tmux: server'), {}, false],
    ['one that began after the run was over', named('vim', { ticks: 5001 }), { until: 5000 }, false],
    ['one that began before the run was over', named('vim', { ticks: 4999 }), { until: 5000 }, true],
    ['a shell on a terminal with the secret of the run', named('bash', { cookie: 'mine' }), { isOnTerminal: () => true }, true],
    ['a tmux server with the marker of the run', named('tmux: server', { marker: MARKER }), {}, true],
  ]
  for (const [what, one, over, suspected] of people)
    verifies('innocent', `in its directory, ${what} is ${suspected ? 'a' : 'no'} suspect`, () =>
      expect(pids([one], { ...here, ...over })).toEqual(suspected ? [300] : []),
    )
  test('what speaks against it is told', () => {
    const rows = [row(50, { name: 'bash', ticks: 1 }), row(300, { cookie: 'mine', uid: 7, parent: 50 })]
    expect(found(rows)[0]?.contra).toEqual(['does not have its marker', 'belongs to uid 7', 'was started by bash (pid 50), which is not of it'])
  })
  const cases: readonly [what: string, rows: readonly ProcessRow[], over?: Partial<Clues>][] = [
    ['members are none', [row(200, { cookie: 'mine' })], { members: [{ row: row(200), proof: 'marker' }] }],
    ["another run's process is none", [row(300, { cookie: 'mine' })], { exempt: () => true }],
    ['the dead are none', [row(300, { cookie: 'mine', state: 'Z' })]],
    ['what is older than the run is none', [row(300, { cookie: 'mine', ticks: 999 })]],
    ['other cookies are none', [row(300, { cookie: 'other' }), row(301, { cookie: null }), row(302)]],
  ]
  test.each(cases)('%s', (_what, rows, over) => expect(pids(rows, over)).toEqual([]))
})

describe('blindness', () => {
  const dark = row(300, { unreadable: 'EACCES' })
  const why = 'pid 300 (p300) could not be read: EACCES'
  test('a pass that could not read what it should says so', () => expect(count([theKeeper, dark]).blind).toBe(why))
  test('a blind table is blind first', () => expect(census({ rows: [dark], blind: 'hidepid' }, record(), nearOf([])).blind).toBe('hidepid'))
  test('the dead need not be read', () => expect(count([{ ...dark, state: 'Z' }]).blind).toBeNull())

  verifies('unknown', 'only a pass that saw everything proves a tree empty', () => {
    expect(treeOf(count([theKeeper]))).toEqual({ kind: 'empty' })
    const served = [{ row: row(500), why: 'D still works on session b' }]
    expect(treeOf(count([theKeeper]), [], served)).toEqual({ kind: 'members', members: [], served })
    expect(treeOf(count([theKeeper, dark]))).toEqual({ kind: 'unknown', why })
    expect(treeOf(census({ rows: [], blind: 'hidepid' }, record(), nearOf([])))).toEqual({ kind: 'unknown', why: 'hidepid' })
  })
  test('who was found is there, however blind the pass', () => {
    expect(treeOf(count([theHarness, dark]))).toEqual({ kind: 'members', members: [{ row: theHarness, proof: 'marker' }] })
  })
})

describe('where a shortcut would be wrong', () => {
  // The keeper died before its stub wrote a pid file, and its pid is in use again: these children are a stranger's.
  verifies('innocent', 'a new tenant of the keeper pid has no members among its children', () => {
    expect(proofs(count([row(100, { ticks: 5000 }), row(600, { parent: 100 })], { harness: null }))).toEqual({})
  })
  // Where no marker can be set, the innermost cookie has to decide instead (design §6).
  verifies('innocent', 'a run in ours with a cookie of its own keeps its orphans, where no marker could be set', () => {
    const orphan = row(300, { parent: 200, cookie: 'inner' })
    expect(proofs(count([row(200, { cookie: 'mine' }), orphan], { marker: null }))).toEqual({ 200: 'cookie' })
    expect(proofs(count([row(200, { cookie: 'mine' }), { ...orphan, cookie: 'made up' }], { marker: null }))).toEqual({
      200: 'cookie',
      300: 'descendant',
    })
  })
})

describe('what an agent writes about itself', () => {
  verifies('innocent', 'neither its file nor its journal makes a process of another user ours', () => {
    const root = row(900, { uid: 0, session: 900 })
    const rows = [root, row(910, { uid: 0, session: 900 })]
    expect(proofs(count(rows, { harness: { pid: 900, ticks: 9000 } }))).toEqual({})
    expect(proofs(count(rows, { journal: [{ pid: 900, ticks: 9000 }] }))).toEqual({})
    // The command itself has seen it as a member a moment ago: sudo, orphaned meanwhile.
    expect(proofs(count([root], { seen: [{ pid: 900, ticks: 9000 }] }))).toEqual({ 900: 'journal' })
  })
  // The file that names the agent lies in a directory that the agent can write to.
  verifies('innocent', 'a process that is not the keeper’s child is not believed to be the agent while the keeper lives', () => {
    const stranger = row(900, { parent: 1 })
    expect(proofs(count([keeping, row(200, { ...mine, parent: 100 }), stranger], { harness: { pid: 900, ticks: 9000 } }))).toEqual({ 200: 'marker' })
    // Without a keeper, something else of the run must be on it; the session that a stranger leads is no more ours than the stranger.
    const led = row(910, { session: 900 })
    for (const more of [[], [keeping]])
      expect(proofs(count([...more, { ...stranger, session: 900 }, led], { harness: { pid: 900, ticks: 9000 } }))).toEqual({})
    expect(proofs(count([{ ...stranger, cookie: 'mine' }], { harness: { pid: 900, ticks: 9000 } }))).toEqual({ 900: 'recorded' })
    expect(proofs(count([stranger], { harness: { pid: 900, ticks: 9000 }, contained: new Set([900]) }))).toEqual({ 900: 'cgroup' })
  })
  verifies('innocent', 'nothing that is older than the run is of it, whatever names it or moved it into its cgroup', () => {
    const old = row(90, { parent: 1, session: 90 })
    const rows = [keeping, row(200, { ...mine, parent: 100 }), old, row(910, { session: 90 })]
    const forged = { pid: 90, ticks: 900 }
    const found = count(rows, { harness: forged, journal: [forged], contained: new Set([90, 200]), born: 1000 })
    expect(proofs(found)).toEqual({ 200: 'cgroup' })
    expect(found.strangers).toEqual([old])
    // A leader that is gone names a session, too.
    expect(proofs(count(rows.slice(0, 2).concat(row(910, { session: 90 })), { journal: [forged], born: 1000 }))).toEqual({ 200: 'marker' })
  })
  verifies('stop-proof', 'an agent that took its name off the record is still its keeper’s child, whatever it wears', () => {
    const agent = row(200, { parent: 100, cookie: 'mine' })
    for (const worn of [unmarked, helping, { marker: OTHER_MARKER }]) {
      expect(proofs(count([keeping, { ...agent, ...worn }], { harness: null, born: 1000 }))).toEqual({ 200: 'descendant' })
      expect(proofs(count([keeping, { ...agent, ...worn }], { harness: { pid: 900, ticks: 9000 }, born: 1000 }))).toEqual({ 200: 'descendant' })
    }
    // In its cgroup it is known even when it has forged its own end.
    const over = { harness: null, beginning: false, born: 1000, contained: new Set([200]) }
    expect(proofs(count([keeping, { ...agent, ...helping }], over))).toEqual({ 200: 'cgroup' })
    // Neither a helper of the keeper nor a job of the shell that became the keeper is.
    expect(
      proofs(count([keeping, row(200, { ...helping, parent: 100 }), { ...agent, pid: 210, ticks: 1500 }], { harness: null, born: 1600 })),
    ).toEqual({})
    // Nor is a job that was born in the tick in which its launcher was.
    const job = row(210, { parent: 100, ticks: 1600 })
    expect(proofs(count([keeping, job, row(211, { parent: 210, ticks: 1700 })], { born: 1600 }))).toEqual({})
    expect(proofs(count([keeping, { ...job, ticks: 1601 }], { born: 1600 }))).toEqual({ 210: 'descendant' })
    // A keeper that was spawned may have its agent in the tick of its own birth.
    const young = { ...keeping, ticks: 1600 }
    const about = { born: 1600, keeper: { pid: 100, ticks: 1600 } }
    expect(proofs(count([young, job], about))).toEqual({})
    expect(proofs(count([young, job], { ...about, detached: true }))).toEqual({ 210: 'descendant' })
  })
  verifies('innocent', 'neither that file nor the journal makes the processes of another run ours', () => {
    const rows = [row(500, helping), row(510, { marker: OTHER_MARKER, parent: 500 })]
    const forged = { pid: 510, ticks: 5100 }
    expect(proofs(count(rows, { journal: [forged, { pid: 500, ticks: 5000 }], keeper: null, harness: null }))).toEqual({})
  })
})

describe('ourselves and the tmux server', () => {
  verifies('innocent', 'a helper is not of the run that it ends, although an agent has adopted it', () => {
    const rows = [theHarness, row(300, { ...helping, parent: 200 })]
    expect(proofs(count(rows, {}, { helper: { pid: 300, ticks: 3000 } }))).toEqual({ 200: 'marker' })
    expect(proofs(count(rows, {}, { helper: { pid: 300, ticks: 3001 } }))).toEqual({ 200: 'marker', 300: 'descendant' })
  })
  verifies('innocent', 'our daemon is not of the run that it was started in, once it has left the cgroup', () => {
    const rows = [theHarness, row(300, { ...helping, parent: 200 })]
    const daemon = { daemon: () => ({ pid: 300, ticks: 3000 }) }
    expect(proofs(count(rows, {}, daemon))).toEqual({ 200: 'marker' })
    expect(proofs(count(rows, { contained: new Set([200, 300]) }, daemon))).toEqual({ 200: 'cgroup', 300: 'cgroup' })
  })
  verifies('innocent', 'a tmux server that hosts another run is not ours, although an agent has adopted it', () => {
    const rows = [theHarness, row(300, { parent: 200 }), row(500, { ...helping, parent: 300 }), row(310, { parent: 300 })]
    const near = (hosted: boolean, server = { pid: 300, ticks: 3000 }): Neighbours =>
      nearOf(
        rows,
        { server: () => server },
        RUNS.map((one) => (one.id === 'r2' ? { ...one, hosted } : one)),
      )
    const pids = (hosted: boolean): number[] => census({ rows, blind: null }, record(), near(hosted)).members.map(({ row: { pid } }) => pid)
    expect(pids(true)).toEqual([200])
    expect(pids(false)).toEqual([200, 300, 310])
    // A keeper whose server is gone has another parent, which is none.
    const strayed = census({ rows, blind: null }, record(), near(true, { pid: 301, ticks: 3010 })).members.map(({ row: { pid } }) => pid)
    expect(strayed).toEqual([200, 300, 310])
  })
})
