/**
 * Whom a text is for: how many columns there are (null: no limit), the folder that is called `~` (null: none), and how many minutes the
 * clock on the wall is ahead of UTC at a time (absent: none).
 */
export type Page = { readonly columns: number | null; readonly home: string | null; readonly ahead?: (at: number) => number }

/** For a file, a pipe without a width, and a program. */
export const WIDE: Page = { columns: null, home: null }

/** Paths below the home folder begin with `~`. */
export function tilde(text: string, { home }: Pick<Page, 'home'>): string {
  if (home === null || home === '' || home === '/') return text
  const folder = home.replace(/\/+$/, '')
  return text
    .split(folder)
    .map((part, index, parts) => {
      if (index === 0) return part
      const before = parts[index - 1] ?? ''
      // Only where a path begins, and only the whole of its name.
      return /(?:^|[\s"'(=:,])$/.test(index === 1 ? before : before || 'x') && /^(?:$|[/\s"'),:;])/.test(part) ? `~${part}` : `${folder}${part}`
    })
    .join('')
}

/** In lines of so many columns, each but the first behind `indent` blanks. A word that is longer than a line stays whole. */
export function wrapped(text: string, columns: number | null, indent = 0): string[] {
  if (columns === null || text.length <= columns) return [text]
  const [lead = ''] = /^ */.exec(text) ?? []
  const [first = '', ...words] = text.slice(lead.length).split(' ')
  const lines: string[] = []
  let line = `${lead}${first}`
  for (const word of words) {
    if (line.length + 1 + word.length > columns) {
      lines.push(line)
      line = `${' '.repeat(indent)}${word}`
    } else line = `${line} ${word}`
  }
  return [...lines, line]
}
