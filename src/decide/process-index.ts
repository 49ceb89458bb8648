import type { ProcessRow, ProcessTable } from '../model/index.ts'
import { isDead } from '../model/index.ts'

/** The living of one table, findable by what proves or inherits membership. */
export type Index = {
  readonly rows: readonly ProcessRow[]
  readonly byPid: ReadonlyMap<number, ProcessRow>
  readonly byMarker: ReadonlyMap<number, readonly ProcessRow[]>
  readonly byCookie: ReadonlyMap<string, readonly ProcessRow[]>
  readonly byParent: ReadonlyMap<number, readonly ProcessRow[]>
  readonly bySession: ReadonlyMap<number, readonly ProcessRow[]>
  readonly order: (row: ProcessRow) => number
  /** One that should have been readable and was not. */
  readonly dark: ProcessRow | undefined
}

const known = new WeakMap<ProcessTable, Index>()

/** Made once a table, however many runs are looked for in it. */
export function indexOf(table: ProcessTable): Index {
  const made = known.get(table) ?? makeIndex(table)
  known.set(table, made)
  return made
}

function makeIndex(table: ProcessTable): Index {
  const rows = table.rows.filter((row) => !isDead(row.state))
  const places = new Map(rows.map((row, place) => [row, place]))
  return {
    rows,
    byPid: new Map(rows.map((row) => [row.pid, row])),
    byMarker: groupBy(rows, ({ marker }) => marker ?? null),
    byCookie: groupBy(rows, ({ cookie }) => cookie ?? null),
    byParent: groupBy(rows, ({ parent }) => parent),
    bySession: groupBy(rows, ({ session }) => session),
    order: (row) => places.get(row) ?? -1,
    dark: rows.find((row) => row.unreadable !== undefined),
  }
}

function groupBy<K>(rows: readonly ProcessRow[], keyOf: (row: ProcessRow) => K | null): Map<K, ProcessRow[]> {
  const groups = new Map<K, ProcessRow[]>()
  for (const row of rows) {
    const key = keyOf(row)
    if (key === null) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}
