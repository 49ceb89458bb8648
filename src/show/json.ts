/** What JSON leaves as it is although a terminal obeys it or nobody sees it. (It escapes the controls below a blank, and halves of characters.) */
const UNSEEN = /[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]/gu

/** The same value for a program, and nothing that steers the terminal of a person who looks at it. */
export const jsonText = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? 'null').replaceAll(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
