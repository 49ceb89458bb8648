import { plain } from '../model/index.ts'

/** Colours and weights, and no other sequence. */
// oxlint-disable-next-line no-control-regex
const COLOUR = /(\u001B\[[\d;:]{0,64}m)/
/** It may be the beginning of a colour, whose rest is still to come. */
// oxlint-disable-next-line no-control-regex
const BEGUN = /\u001B(?:\[[\d;:]{0,64})?$/
const RESET = '\u001B[0m'

export type TerminalText = {
  /** So much of it as can be shown by now. */
  take(bytes: Uint8Array): string
  /** What was held back; colours end with it. */
  end(): string
}

/** The output of an agent for a person's terminal: text, lines, tabs, the return to a line's beginning, and colours. Nothing else of it is obeyed. */
export function terminalText(): TerminalText {
  const decoder = new TextDecoder()
  let held = ''
  let coloured = false
  const show = (text: string): string =>
    text
      .split(COLOUR)
      .map((part, index) => {
        if (index % 2 === 0)
          return part
            .split(/([\n\t\r])/)
            .map((word, at) => (at % 2 === 1 ? word : plain(word)))
            .join('')
        coloured = true
        return part
      })
      .join('')
  return {
    take(bytes) {
      const text = held + decoder.decode(bytes, { stream: true })
      held = BEGUN.exec(text)?.[0] ?? ''
      return show(text.slice(0, text.length - held.length))
    },
    end() {
      const rest = show(held + decoder.decode())
      held = ''
      return coloured ? `${rest}${RESET}` : rest
    },
  }
}
