import { type JsonNode, parseJson } from './jsonc.ts'

/** So many characters were put in there. */
export type Insertion = { readonly at: number; readonly text: string }

/** Where and what to write so that a list or an object has one more item, its last, in the way the text is written. To be done in this order. */
export function insertItem(text: string, parent: JsonNode, key: string | null, item: unknown): Insertion[] {
  const style = styleOf(text)
  const last = parent.items.at(-1)
  if (last === undefined) return [intoEmpty(text, parent, key, item, style)]
  const ownLine = indentBefore(text, last.start)
  const airy = text[last.node.start - 1] === ' '
  // Comments on the same line speak of what stands before them.
  const end = last.comma === null ? last.node.end : last.comma + 1
  const at = afterComments(text, end)
  const comment = text.slice(end, at)
  const indent = ownLine ?? indentAt(text, parent.start) + style.unit
  const newLine = ownLine !== null || comment.includes('//')
  const gap = newLine ? style.eol + indent : airy ? ' ' : ''
  const words = render(key, item, ownLine === null ? null : { ...style, indent }, airy)
  if (last.comma !== null) return [{ at, text: `${gap}${words},` }]
  if (comment === '') return [{ at, text: `,${gap}${words}` }]
  return [
    { at, text: gap + words },
    { at: end, text: ',' },
  ]
}

type Style = { readonly eol: string; readonly unit: string; readonly lines: boolean }

function intoEmpty(text: string, parent: JsonNode, key: string | null, item: unknown, style: Style): Insertion {
  const inside = text.slice(parent.start + 1, parent.end - 1)
  // Behind a comment, if there is one.
  const at = parent.start + 1 + inside.trimEnd().length
  // Between bare brackets the closing one gets a line of its own.
  const closesItself = inside.trim() !== '' || inside.includes('\n')
  if (!style.lines && !inside.includes('\n')) return { at, text: render(key, item, null, false) }
  const outer = indentAt(text, parent.start)
  const indent = outer + style.unit
  return { at, text: `${style.eol}${indent}${render(key, item, { ...style, indent }, true)}${closesItself ? '' : style.eol + outer}` }
}

function render(key: string | null, item: unknown, lines: (Style & { indent: string }) | null, airy: boolean): string {
  const colon = lines !== null || airy ? ': ' : ':'
  const words = lines === null ? JSON.stringify(item) : JSON.stringify(item, null, lines.unit).replaceAll('\n', lines.eol + lines.indent)
  return (key === null ? '' : JSON.stringify(key) + colon) + words
}

/** How the text is written: its ends of lines, one step of indentation, and whether it has lines at all. */
function styleOf(text: string): Style {
  const root = parseJson(text)
  const first = root?.items[0]
  const eol = /\r\n|\n/.exec(text)?.[0] ?? '\n'
  const unit = first === undefined ? null : indentBefore(text, first.start)
  return { eol, unit: unit || '  ', lines: first === undefined || (root !== null && text.slice(root.start, root.end).includes('\n')) }
}

/** The indentation of the line that something stands on. */
const indentAt = (text: string, at: number): string => /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1, at))?.[0] ?? ''

/** The same, if nothing stands before it on that line; null: something does, or it is the first line. */
function indentBefore(text: string, at: number): string | null {
  const line = at === 0 ? -1 : text.lastIndexOf('\n', at - 1)
  const before = text.slice(line + 1, at)
  return line >= 0 && /^[ \t]*$/.test(before) ? before : null
}

const SAME_LINE = /[ \t]*(?:\/\*(?:[^*\r\n]|\*(?!\/))*\*\/|\/\/[^\r\n]*)/y

function afterComments(text: string, from: number): number {
  let at = from
  SAME_LINE.lastIndex = at
  while (SAME_LINE.test(text)) {
    at = SAME_LINE.lastIndex
    SAME_LINE.lastIndex = at
  }
  return at
}
