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

/** Does a screen show the beginning of what was typed? Wrapped lines and borders come in between, so only letters and digits are looked at. */
export function shows(screen: string, text: string): boolean {
  const plain = (part: string): string => part.replaceAll(/[^\p{L}\p{N}]/gu, '')
  const begin = plain(text.split('\n', 1)[0] ?? '').slice(0, 24)
  return begin.length >= 3 && plain(screen).includes(begin)
}
