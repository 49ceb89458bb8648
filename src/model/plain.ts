/**
 * Characters that steer a terminal, or that nobody sees: controls of seven and of eight bits, formats (they turn text around, or have no width),
 * separators of lines and paragraphs, and halves of characters, which also stand for bytes that are no UTF-8.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Text from elsewhere (names, argv, paths, reasons), on one line, as it may be shown: it must not steer the terminal, or stand for a line of ours. */
export const plain = (text: string): string => text.replaceAll(UNSEEN, (character) => '·'.repeat(character.length))

/** The same, but its lines stay lines. */
export const plainLines = (text: string): string[] => text.split('\n').map(plain)

/** Several lines behind a word of ours: each but the first is indented, so that none is taken for one of ours. */
export const plainParagraph = (text: string): string =>
  plainLines(text)
    .map((line, index) => (index === 0 || line.startsWith(' ') ? line : `  ${line}`))
    .join('\n')
