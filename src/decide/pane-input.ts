/** A text as it can be typed into a pane as one block; or why it cannot. */
export type Typable = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'refused'; readonly why: string }

/**
 * Only what a person could have typed or pasted: line breaks and tabs, and no other control character. An escape sequence could end the
 * paste early, or press keys; so it is refused, and not taken out: what is left would be another text.
 */
export function typable(text: string, mostBytes: number): Typable {
  const lines = text.replaceAll(/\r\n?/g, '\n').replace(/\n+$/, '')
  if (lines.trim() === '') return { kind: 'refused', why: 'there is nothing in it' }
  const bytes = new TextEncoder().encode(lines).length
  if (bytes > mostBytes) return { kind: 'refused', why: `it has ${bytes} bytes, and ${mostBytes} is the most` }
  const bad = /[^\P{Cc}\n\t]|\p{Cs}|\uFFFD/u.exec(lines)
  if (bad !== null) {
    const code = (bad[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    return { kind: 'refused', why: `it holds a character that nobody types (U+${code}, at ${bad.index + 1})` }
  }
  return { kind: 'text', text: lines }
}

/**
 * Does a screen show more of a text than it did before that was typed? Wrapped lines and borders come in between, so only letters and digits
 * of its beginning and its end are looked for; and what some interfaces put in the place of a long one.
 */
export function standsOn(after: string, before: string, text: string): boolean {
  const lines = text.split('\n').map((line) => lettersOf(line))
  const marks = [(lines[0] ?? '').slice(0, MARK), (lines.at(-1) ?? '').slice(-MARK)].filter((mark) => mark.length >= LEAST)
  const grew = (of: (screen: string) => string, mark: string | RegExp): boolean => of(after).split(mark).length > of(before).split(mark).length
  if (lines.length > 1 || text.length > LONG) return marks.some((mark) => grew(lettersOf, mark)) || grew((screen) => screen, PLACEHOLDER)
  return marks.length > 0 ? marks.some((mark) => grew(lettersOf, mark)) : grew(unspaced, unspaced(text))
}

/** One of a letter or two comes and goes on a screen by chance. */
export const isTelling = (text: string): boolean => lettersOf(text).length >= LEAST

const MARK = 24
const LEAST = 3
const LONG = 200
const PLACEHOLDER = /\[pasted\b[^\]]{0,60}\]/i
const lettersOf = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]/gu, '')

/** The same for a text as it was typed and as a harness reports it, which may break its lines otherwise. */
export const unspaced = (text: string): string => text.replaceAll(/\s/gu, '')
