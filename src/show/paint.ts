import { plain } from '../model/index.ts'

export { plain }

/** Colours, or none: decided once, by whether the reader is a terminal. */
export type Paint = { readonly [K in keyof typeof CODES]: (text: string) => string }

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** With a key, a colour is only one at a door that has the same key: text from elsewhere does not know it, and paints nothing. */
export function painter(colours: boolean, key = ''): Paint {
  const entries = Object.entries(CODES).map(([name, code]) => [
    name,
    (text: string) => (colours && text !== '' ? `\u001B${key}[${code}m${text}\u001B${key}[0m` : text),
  ])
  return Object.fromEntries(entries) as Paint
}

/** A line at the last door: whatever came into it from elsewhere, only text, tabs and the colours of this key leave. Null: no colours. */
export function doorLine(line: string, key: string | null): string {
  if (key === null) return tabbed(line)
  return line
    .split(new RegExp(`(\u001B${key}\\[\\d+m)`))
    .map((part, index) => (index % 2 === 1 ? part.replace(key, '') : tabbed(part)))
    .join('')
}

const tabbed = (text: string): string => text.split('\t').map(plain).join('\t')
