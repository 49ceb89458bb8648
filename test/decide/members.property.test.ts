import fc from 'fast-check'
import { expect } from 'vitest'
import type { TreeRecord } from '../../src/decide/index.ts'
import { census, treeOf } from '../../src/decide/index.ts'
import type { ProcessRow, ProcessTable } from '../../src/model/index.ts'
import { isDead, markerFrom, sameProcess } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { HELPER_MARKER, MARKER, maybe, OTHER_MARKER, row } from './build.ts'

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
  marker: fc.constantFrom(MARKER, null),
  cookie: fc.constant('mine'),
  keeper: ids,
  harness: ids,
  beginning: fc.boolean(),
})
const RUNS = { numRuns: 3000 }

const others: ReadonlySet<number> = new Set([MARKER, OTHER_MARKER])
/** The innermost marker decides; where there is none, and the run could not be given one, the innermost cookie. */
function isMarkedByAnother({ marker, cookie }: ProcessRow, run: TreeRecord): boolean {
  if (marker === run.marker || marker === UNRECORDED) return marker === null && cookie === 'other'
  return marker !== null
}

verifies('innocent', 'no census contains the keeper, a process of another run, or the dead', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const { members } = census(table, run, others)
      for (const { row: found } of members) {
        expect(table.rows).toContain(found)
        expect(isDead(found.state)).toBe(false)
        expect(isMarkedByAnother(found, run)).toBe(false)
        expect(run.keeper !== null && sameProcess(found, run.keeper)).toBe(false)
      }
    }),
    RUNS,
  )
})

verifies('innocent', 'every member has a proof that can be checked again, which goes back to a mark of this very run', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const { members } = census(table, run, others)
      const byPid = new Map(members.map((member) => [member.row.pid, member]))
      for (const { row: found, proof } of members) {
        if (proof === 'marker') expect(found.marker).toBe(run.marker)
        if (proof === 'cookie') expect([run.marker, found.cookie]).toEqual([null, run.cookie])
        if (proof === 'recorded') expect(run.harness !== null && sameProcess(found, run.harness)).toBe(true)
        if (proof === 'descendant') {
          const keeper = table.rows.find((other) => run.keeper !== null && sameProcess(other, run.keeper))
          const parent = byPid.get(found.parent)?.row ?? (run.harness === null ? keeper : undefined)
          expect(parent !== undefined && parent.pid === found.parent && parent.ticks <= found.ticks).toBe(true)
        }
        if (proof === 'session') {
          const leader = byPid.get(found.session)?.row
          expect(leader !== undefined && leader.session === leader.pid && leader.ticks <= found.ticks).toBe(true)
        }
      }
    }),
    RUNS,
  )
})

verifies('innocent', 'nobody is counted twice', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const { members } = census(table, run, others)
      const all = members.map(({ row: { pid } }) => pid)
      expect(new Set(all).size).toBe(all.length)
    }),
    RUNS,
  )
})

verifies('stop-proof', 'whoever carries the marker of the run is found, its keeper excepted', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const isKeeper = (found: ProcessRow): boolean => run.keeper !== null && sameProcess(found, run.keeper)
      const marked = table.rows.filter((found) => found.marker === MARKER && !isDead(found.state) && !isKeeper(found)).map(({ pid }) => pid)
      expect(census(table, { ...run, marker: MARKER }, others).members.map(({ row: { pid } }) => pid)).toEqual(expect.arrayContaining(marked))
    }),
    RUNS,
  )
})

verifies('unknown', 'a tree is proven empty only by a pass that was not blind and found nobody', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const found = census(table, run, others)
      expect(treeOf(found).kind === 'empty').toBe(found.members.length === 0 && table.blind === null)
    }),
    RUNS,
  )
})

verifies('innocent', 'the order of the table and the processes of other runs change nothing', () => {
  fc.assert(
    fc.property(tables, records, (table, run) => {
      const found = (rowsSeen: readonly ProcessRow[]) =>
        census({ ...table, rows: rowsSeen }, run, others)
          .members.map(({ row: { pid } }) => pid)
          .sort()
      const all = found(table.rows)
      expect(found(table.rows.toReversed())).toEqual(all)
      expect(found([...table.rows, row(20, { marker: OTHER_MARKER, parent: 2, session: 2 })])).toEqual(all)
    }),
    RUNS,
  )
})
