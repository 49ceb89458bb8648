/** Colours, or none: decided once, by whether the reader is a terminal. */
export type Paint = { readonly [K in keyof typeof CODES]: (text: string) => string }

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export function painter(colours: boolean): Paint {
  const entries = Object.entries(CODES).map(([name, code]) => [
    name,
    (text: string) => (colours && text !== '' ? `\u001B[${code}m${text}\u001B[0m` : text),
  ])
  return Object.fromEntries(entries) as Paint
}

/** Text from elsewhere (names, argv, reasons) must not steer the terminal. */
export const plain = (text: string): string => text.replaceAll(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, '·')
