/** Letters of East Asia and pictures take two columns. */
const WIDE_LETTER =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u
const NO_COLUMN = /\p{Mn}|\p{Me}|\uFE0F/u

const columnsOf = (letter: string): number => (WIDE_LETTER.test(letter) ? 2 : NO_COLUMN.test(letter) ? 0 : 1)

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  // oxlint-disable-next-line no-control-regex
  if (/^[\u0000-\u02FF]*$/.test(text)) return text.length
  let width = 0
  for (const letter of text) width += columnsOf(letter)
  return width
}

export const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** Whole letters from its beginning that take at most so many columns. */
export function headOf(text: string, width: number): string {
  let taken = ''
  let left = width
  for (const letter of text) {
    left -= columnsOf(letter)
    if (left < 0) break
    taken += letter
  }
  return taken
}

/** At its end, behind a whole word if that leaves more than half of it. */
export function cutWords(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  const head = headOf(text, width - 1)
  const blank = head.lastIndexOf(' ')
  return `${(text[head.length] !== ' ' && blank > width / 2 ? head.slice(0, blank) : head).trimEnd()}…`
}

/** Folders in the middle go first: where a path begins and how it ends say most. */
export function cutPath(path: string, width: number): string {
  if (widthOf(path) <= width) return path
  const [root = '', ...folders] = path.split('/')
  for (let left = 1; left < folders.length; left++) {
    const shorter = [root, '…', ...folders.slice(left)].join('/')
    if (widthOf(shorter) <= width) return shorter
  }
  const last = folders.at(-1) ?? path
  return widthOf(last) + 2 <= width ? `…/${last}` : cutName(last, width)
}

/** One long name: its beginning and its end stay. */
function cutName(name: string, width: number): string {
  if (widthOf(name) <= width) return name
  const head = headOf(name, Math.floor((width - 1) / 2))
  const tail = headOf([...name].toReversed().join(''), width - 1 - widthOf(head))
  return `${head}…${[...tail].toReversed().join('')}`
}
