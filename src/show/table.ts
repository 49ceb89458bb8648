import { padded, widthOf } from './width.ts'

/** Columns aligned by what is seen; `paint` is applied after padding, so colours cost no width. */
export type Cell = { readonly text: string; readonly paint?: (text: string) => string }

const GAP = '  '

export function table(rows: readonly (readonly Cell[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cell.text))
  return rows.map((row) =>
    row
      .map(({ text, paint }, index) => {
        const cell = index === row.length - 1 ? text : padded(text, widths[index] ?? 0)
        return paint === undefined ? cell : paint(cell)
      })
      .join(GAP)
      .trimEnd(),
  )
}

/** From the middle, so that both the root and the end of a path stay readable. */
export function shorten(text: string, width: number): string {
  if (text.length <= width) return text
  const head = Math.floor((width - 1) / 3)
  // No half of a character is left at the cut.
  const [before, after] = [text.slice(0, head), text.slice(text.length - (width - 1 - head))]
  return `${before.replace(/[\uD800-\uDBFF]$/, '')}…${after.replace(/^[\uDC00-\uDFFF]/, '')}`
}
