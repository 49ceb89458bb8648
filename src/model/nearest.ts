/** So many letters may be wrong, missing, too many, or exchanged with their neighbour. */
const MOST_WRONG = 2

/** The name that was probably meant, if there is one. A short word is like many names, so it may have fewer wrong letters. */
export function nearest(word: string, names: readonly string[]): string | null {
  const most = Math.min(MOST_WRONG, Math.floor(word.length / 2))
  const [best] = names
    .map((name) => ({ name, wrong: name.startsWith(word) && word.length > 1 ? 0.5 : distance(word, name) }))
    .filter(({ wrong }) => wrong <= most)
    .toSorted((one, other) => one.wrong - other.wrong)
  return best?.name ?? null
}

/** How many steps lead from one word to the other. */
function distance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, index) => index)]
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0
  for (let row = 1; row <= from.length; row++) {
    rows.push([row])
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1
      const steps = [at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + same]
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      rows[row]?.push(Math.min(...steps, ...(swapped ? [at(row - 2, column - 2) + 1] : [])))
    }
  }
  return at(from.length, to.length)
}
