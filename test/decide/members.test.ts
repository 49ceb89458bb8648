import { describe, expect, test } from 'vitest'
import type { Census, Clues, TreeRecord } from '../../src/decide/index.ts'
import { census, suspectsOf, treeOf } from '../../src/decide/index.ts'
import type { ProcessRow } from '../../src/model/index.ts'
import { markerFrom } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { HELPER_MARKER, harness, keeper, MARKER, OTHER_MARKER, row } from './build.ts'

const record = (over: Partial<TreeRecord> = {}): TreeRecord => ({ marker: MARKER, cookie: 'mine', keeper, harness, beginning: true, ...over })
const count = (rows: readonly ProcessRow[], over: Partial<TreeRecord> = {}): Census => census({ rows, blind: null }, record(over), others)
/** The markers of runs on record, its own among them. */
const THIRD_MARKER = markerFrom(7, 'run')
const others: ReadonlySet<number> = new Set([MARKER, OTHER_MARKER, THIRD_MARKER])
const proofs = ({ members }: Census): Record<number, string> => Object.fromEntries(members.map(({ row: { pid }, proof }) => [pid, proof]))

/** The keeper and the harness, as they are in almost every table. */
const mine = { marker: MARKER }
const theKeeper = row(100, { ...mine, session: 100 })
const theHarness = row(200, { ...mine, parent: 100 })
const unmarked = { marker: null }
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
  'the innermost marker decides': [
    ['a child with the marker of another run is not ours', [theHarness, row(300, { marker: OTHER_MARKER, parent: 200 })], { 200: 'marker' }],
    [
      'nor are its own children',
      [theHarness, row(300, { marker: OTHER_MARKER, parent: 200 }), row(310, { ...unmarked, parent: 300 })],
      { 200: 'marker' },
    ],
    ['nor is our cookie any help', [row(300, { marker: OTHER_MARKER, cookie: 'mine' })], {}, { marker: null, keeper: null, harness: null }],
    ['nor a session that we lead', [row(300, { ...mine, session: 300 }), row(310, { marker: OTHER_MARKER, session: 300 })], { 300: 'marker' }],
    ['nor a recorded identity', [row(200, { marker: OTHER_MARKER })], {}],
    [
      'a marker that no run on record has is not yet anybody else',
      [theHarness, row(300, { ...unrecorded, parent: 200 })],
      { 200: 'marker', 300: 'descendant' },
    ],
    ['nor is it ours', [row(300, unrecorded)], {}],
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
      'but not a run that was started in it, which has a marker of its own',
      [row(300, { marker: OTHER_MARKER }), row(310, { marker: THIRD_MARKER, parent: 300 }), row(320, { ...unmarked, parent: 310 })],
      { 300: 'harness-id' },
      lent(300),
    ],
    ['nor a helper', [row(300, { marker: OTHER_MARKER }), row(310, { marker: HELPER_MARKER, parent: 300 })], { 300: 'harness-id' }, lent(300)],
    [
      'the same marker on anybody else is still that of another run',
      [theHarness, row(310, { marker: OTHER_MARKER, parent: 200 })],
      { 200: 'marker' },
      lent(300),
    ],
    [
      'although a spared daemon started it',
      [row(250, mine), row(260, { ...mine, parent: 250 }), row(270, { ...mine, parent: 260 }), row(280, { ...mine, parent: 250 })],
      { 260: 'marker', 270: 'marker' },
      { spared: [{ pid: 250, ticks: 2500 }], ours: [{ pid: 260, ticks: 2600 }] },
    ],
  ],
  'by recorded identity': [
    ['the harness that lost its marker', [row(200, unmarked)], { 200: 'recorded' }],
    ['a new tenant of its pid', [row(200, { ...unmarked, ticks: 2001 })], {}],
  ],
  'by descent': [
    [
      'children and their children',
      [row(200, unmarked), row(300, { parent: 200 }), row(310, { parent: 300 })],
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
    ['its leader is the keeper', [theKeeper, theHarness, row(310, { session: 100 })], { 200: 'marker' }],
    ['the member of that pid leads no session', [row(300, { ...mine, session: 50 }), row(310, { session: 300 })], { 300: 'marker' }],
    ['older than its leader', [row(300, { ...mine, session: 300 }), row(310, { session: 300, ticks: 2999 })], { 300: 'marker' }],
  ],
  'the keeper and its helpers': [
    ['a helper is none: it has a marker of its own', [theKeeper, theHarness, row(300, { marker: HELPER_MARKER, parent: 100 })], { 200: 'marker' }],
    ['nor is it, when its keeper is gone', [theHarness, row(300, { marker: HELPER_MARKER, parent: 200, cookie: 'mine' })], { 200: 'marker' }],
    ['nor is what an unmarked helper starts', [theKeeper, row(300, { parent: 100 }), row(310, { parent: 300 })], {}],
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
    ["the keeper's children are members", [theKeeper, row(150, { parent: 100 })], { 150: 'descendant' }, { harness: null }],
    ['and theirs', [theKeeper, row(150, { parent: 100 }), row(160, { parent: 150 })], { 150: 'descendant', 160: 'descendant' }, { harness: null }],
    ['unless another run marks them', [theKeeper, row(150, { parent: 100, marker: OTHER_MARKER })], {}, { harness: null }],
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
  verifies('innocent', 'who is in it and belongs to another run is a stranger there, and so is a helper', () => {
    const found = count([theHarness, row(300, { marker: OTHER_MARKER }), row(400, { marker: HELPER_MARKER })], inside(200, 300, 400))
    expect(proofs(found)).toEqual({ 200: 'cgroup' })
    expect(found.strangers.map(({ pid }) => pid)).toEqual([300, 400])
  })
  test('who left it is still known by other proofs', () => expect(proofs(count([row(300, mine)], inside()))).toEqual({ 300: 'marker' }))
  verifies('unknown', 'empty is proven only when everybody in it was looked at', () => {
    expect(treeOf(count([theKeeper], inside()))).toEqual({ kind: 'empty' })
    expect(treeOf(count([theKeeper], inside(300)))).toMatchObject({ kind: 'unknown' })
    expect(treeOf(count([theKeeper, row(300, { marker: OTHER_MARKER })], inside(300)))).toEqual({ kind: 'empty' })
  })
  test('it sees what a blind pass does not', () => {
    expect(treeOf(census({ rows: [theKeeper], blind: 'hidepid' }, record(inside()), others))).toEqual({ kind: 'empty' })
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
  test('what speaks against it is told', () => {
    const rows = [row(50, { name: 'bash', ticks: 1 }), row(300, { cookie: 'mine', uid: 7, parent: 50 })]
    expect(found(rows)[0]?.contra).toEqual(['does not have its marker', 'belongs to uid 7', 'was started by bash (pid 50), which is not of it'])
  })
  const cases: readonly [what: string, rows: readonly ProcessRow[], over?: Partial<Clues>][] = [
    ['members are none', [row(200, { cookie: 'mine' })], { members: [{ row: row(200), proof: 'marker' }] }],
    ["another run's process is none", [row(300, { cookie: 'mine' })], { exempt: () => true }],
    ['a helper is none', [row(300, { cookie: 'mine', marker: HELPER_MARKER })]],
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
  test('a blind table is blind first', () => expect(census({ rows: [dark], blind: 'hidepid' }, record(), others).blind).toBe('hidepid'))
  test('the dead need not be read', () => expect(count([{ ...dark, state: 'Z' }]).blind).toBeNull())

  verifies('unknown', 'only a pass that saw everything proves a tree empty', () => {
    expect(treeOf(count([theKeeper]))).toEqual({ kind: 'empty' })
    const served = [{ row: row(500), why: 'D still works on session b' }]
    expect(treeOf(count([theKeeper]), [], served)).toEqual({ kind: 'members', members: [], served })
    expect(treeOf(count([theKeeper, dark]))).toEqual({ kind: 'unknown', why })
    expect(treeOf(census({ rows: [], blind: 'hidepid' }, record(), others))).toEqual({ kind: 'unknown', why: 'hidepid' })
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
  verifies('innocent', 'a nested run with a cookie of its own is not ours, where no marker could be set', () => {
    const nested = row(300, { parent: 200, cookie: 'other' })
    expect(proofs(count([row(200, { cookie: 'mine' }), nested], { marker: null }))).toEqual({ 200: 'cookie' })
  })
})

verifies('innocent', 'inside an adopted run any other marker is another Holdfast’s, on record here or not', () => {
  const root = row(200, { ticks: harness.ticks, marker: MARKER })
  const nested = row(300, { parent: 200, ticks: 3000, marker: markerFrom(77, 'run') })
  const pids = (adopted: boolean): number[] => count([root, nested], { adopted }).members.map(({ row: { pid } }) => pid)
  expect(pids(false)).toEqual([200, 300])
  expect(pids(true)).toEqual([200])
})
