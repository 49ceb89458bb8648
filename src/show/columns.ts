import { type Cell, table } from './table.ts'
import { cutWords, widthOf } from './width.ts'

/** A column of a table for people: `least` is how narrow it may become (absent: not at all), `cut` how it does. */
export type Column = {
  readonly name: string
  readonly cells: readonly Cell[]
  readonly least?: number
  readonly cut?: (text: string, width: number) => string
}

const GAP_WIDTH = 2

/** The first of these tables that fits so many columns (null: any does), else the last one, which is cut as far as it may be. */
export function fitted(tables: readonly (readonly Column[])[], columns: number | null, head: (text: string) => string): string[] {
  const chosen = (columns === null ? tables[0] : tables.find((one) => total(one.map(leastOf)) <= columns)) ?? tables.at(-1) ?? []
  const widths = columns === null ? chosen.map(naturalOf) : spread(chosen, columns)
  const cutTo = ({ text, paint }: Cell, index: number): Cell => {
    const cell = { text: (chosen[index]?.cut ?? cutWords)(text, widths[index] ?? 0) }
    return paint === undefined ? cell : { ...cell, paint }
  }
  const rows = (chosen[0]?.cells ?? []).map((_, row) => chosen.map(({ cells }, index) => cutTo(cells[row] ?? { text: '' }, index)))
  return table([chosen.map(({ name }) => ({ text: name, paint: head })), ...rows])
}

const naturalOf = ({ name, cells }: Column): number => Math.max(widthOf(name), ...cells.map(({ text }) => widthOf(text)))
const leastOf = (column: Column): number => Math.min(naturalOf(column), Math.max(column.least ?? Number.POSITIVE_INFINITY, widthOf(column.name)))
const total = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width, GAP_WIDTH * (widths.length - 1))

/** Room that is left goes to the narrowest columns that want more. */
function spread(table: readonly Column[], columns: number): number[] {
  const widths = table.map(leastOf)
  const wanted = table.map(naturalOf)
  for (let room = columns - total(widths); room > 0; room--) {
    const hungry = widths.flatMap((width, index) => (width < (wanted[index] ?? 0) ? [index] : []))
    const next = hungry.toSorted((a, b) => (widths[a] ?? 0) - (widths[b] ?? 0))[0]
    if (next === undefined) break
    widths[next] = (widths[next] ?? 0) + 1
  }
  return widths
}
