import fc from 'fast-check'
import { expect } from 'vitest'
import type { Neighbours, TreeRecord } from '../../src/decide/index.ts'
import { census, neighboursFrom, treeOf } from '../../src/decide/index.ts'
import type { ProcessId, ProcessRow, ProcessTable, RunRoot } from '../../src/model/index.ts'
import { isDead, markerFrom, sameProcess } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { HELPER_MARKER, MARKER, maybe, OTHER_MARKER, place, row } from './build.ts'

const UNRECORDED = markerFrom(9, 'run')

/** Few pids and ticks, so that parents, sessions and reused pids meet often. */
const pids = fc.integer({ min: 2, max: 9 })
const ticks = fc.integer({ min: 1, max: 5 })
const rows: fc.Arbitrary<ProcessRow[]> = fc.uniqueArray(
  fc
    .record({
      pid: pids,
      ticks,
      parent: fc.integer({ min: 1, max: 9 }),
      session: pids,
      state: fc.constantFrom('S', 'S', 'R', 'T', 'Z', 'X'),
      marker: fc.constantFrom(null, null, MARKER, OTHER_MARKER, HELPER_MARKER, UNRECORDED),
      cookie: fc.constantFrom(null, 'mine', 'other'),
    })
    .map((over) => row(over.pid, over)),
  { selector: ({ pid }) => pid, maxLength: 8 },
)
const tables: fc.Arbitrary<ProcessTable> = fc.record({ rows, blind: maybe(fc.constant('hidepid')) })
const ids = maybe(fc.record({ pid: pids, ticks }))
const records: fc.Arbitrary<TreeRecord> = fc.record({
  id: fc.constant('r1'),
  marker: fc.constantFrom(MARKER, null),
  cookie: fc.constant('mine'),
  keeper: ids,
  harness: ids,
  beginning: fc.boolean(),
})
const RUNS = { numRuns: 3000 }

/** Another run on record, with its keeper as pid 2 that was born at tick 1. */
const ITS_KEEPER = { pid: 2, ticks: 1 }
const other: RunRoot = { id: 'r2', parent: null, marker: OTHER_MARKER, cookie: 'other', place, root: ITS_KEEPER, hosted: false }
const near = ({ rows: all }: ProcessTable): Neighbours =>
  neighboursFrom([other], {
    helper: null,
    server: () => null,
    daemon: () => null,
    cgroupRun: () => null,
    secrets: (pid) => [all.find((one) => one.pid === pid)?.cookie ?? []].flat(),
  })

/** From the other run's keeper down, by children that are not older than their parents. */
function isBelowOther(found: ProcessRow, { rows: all }: ProcessTable, until: readonly (ProcessId | null)[]): boolean {
  const living = all.filter(({ state }) => !isDead(state))
  const seen = new Set<number>()
  for (let at: ProcessRow | undefined = found; at !== undefined && !seen.has(at.pid); ) {
    const here: ProcessRow = at
    if (sameProcess(here, ITS_KEEPER)) return true
    if (until.some((id) => id !== null && sameProcess(id, here))) return false
    seen.add(here.pid)
    at = living.find(({ pid, ticks: born }) => pid === here.parent && born <= here.ticks)
  }
  return false
}

verifies('innocent', 'no census contains the keeper, what another run proves to be its own, or the dead', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const { members } = census(table, run, near(table))
      for (const { row: found } of members) {
        expect(table.rows).toContain(found)
        expect(isDead(found.state)).toBe(false)
        expect(isBelowOther(found, table, [run.harness, run.keeper])).toBe(false)
        expect(run.keeper !== null && sameProcess(found, run.keeper)).toBe(false)
      }
    }),
    RUNS,
  )
})

verifies('stop-proof', 'no marker takes out what descends from the agent', () => {
  fc.assert(
    fc.property(tables, records, fc.constantFrom(null, OTHER_MARKER, HELPER_MARKER, UNRECORDED), (table, run, worn) => {
      const pidsOf = (seen: ProcessTable): number[] =>
        census(seen, { ...run, marker: MARKER, keeper: null }, near(seen)).members.map(({ row: { pid } }) => pid)
      const below = table.rows.filter((one) => run.harness !== null && one.parent === run.harness.pid)
      const dressed = { ...table, rows: table.rows.map((one) => (below.includes(one) ? { ...one, marker: worn, cookie: null } : one)) }
      const lost = pidsOf({ ...table, rows: table.rows.map((one) => (below.includes(one) ? { ...one, marker: null, cookie: null } : one)) })
      expect(pidsOf(dressed)).toEqual(expect.arrayContaining(lost))
    }),
    RUNS,
  )
})

verifies('innocent', 'every member has a proof that can be checked again, which goes back to a mark of this very run', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const { members } = census(table, run, near(table))
      const byPid = new Map(members.map((member) => [member.row.pid, member]))
      for (const { row: found, proof } of members) {
        if (proof === 'marker') expect(found.marker).toBe(run.marker)
        if (proof === 'cookie') {
          expect(found.cookie).toBe(run.cookie)
          expect(run.marker === null || [run.keeper?.pid, run.harness?.pid].includes(found.session)).toBe(true)
        }
        if (proof === 'recorded') expect(run.harness !== null && sameProcess(found, run.harness)).toBe(true)
        if (proof === 'descendant') {
          const keeper = table.rows.find((other) => run.keeper !== null && sameProcess(other, run.keeper))
          const parent = byPid.get(found.parent)?.row ?? keeper
          expect(parent !== undefined && parent.pid === found.parent && parent.ticks <= found.ticks).toBe(true)
        }
        if (proof === 'session') {
          const leader = byPid.get(found.session)?.row
          const isLed = leader !== undefined && leader.session === leader.pid && leader.ticks <= found.ticks
          const wasLed = [run.harness, run.keeper].some((id) => id?.pid === found.session && id.ticks <= found.ticks)
          expect(isLed || wasLed).toBe(true)
        }
      }
    }),
    RUNS,
  )
})

verifies('innocent', 'nobody is counted twice', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const { members } = census(table, run, near(table))
      const all = members.map(({ row: { pid } }) => pid)
      expect(new Set(all).size).toBe(all.length)
    }),
    RUNS,
  )
})

verifies('stop-proof', 'whoever carries the marker of the run is found, unless another run speaks for it', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const isKeeper = (found: ProcessRow): boolean => run.keeper !== null && sameProcess(found, run.keeper)
      const isTheirs = (found: ProcessRow): boolean => found.cookie === 'other' || isBelowOther(found, table, [run.harness])
      const marked = table.rows.filter((found) => found.marker === MARKER && !isDead(found.state) && !isKeeper(found) && !isTheirs(found))
      const all = census(table, { ...run, marker: MARKER }, near(table)).members.map(({ row: { pid } }) => pid)
      expect(all).toEqual(expect.arrayContaining(marked.map(({ pid }) => pid)))
    }),
    RUNS,
  )
})

verifies('unknown', 'a tree is proven empty only by a pass that was not blind and found nobody', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const found = census(table, run, near(table))
      expect(treeOf(found).kind === 'empty').toBe(found.members.length === 0 && table.blind === null)
    }),
    RUNS,
  )
})

verifies('innocent', 'the order of the table and the processes of other runs change nothing', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const found = (rowsSeen: readonly ProcessRow[]) =>
        census({ ...table, rows: rowsSeen }, run, near({ ...table, rows: rowsSeen }))
          .members.map(({ row: { pid } }) => pid)
          .sort()
      const all = found(table.rows)
      expect(found(table.rows.toReversed())).toEqual(all)
      expect(found([...table.rows, row(20, { marker: OTHER_MARKER, parent: 1, session: 20 })])).toEqual(all)
    }),
    RUNS,
  )
})
