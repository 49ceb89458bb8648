/** The width of every help text. */
export const COLUMNS = 80

/** Words in lines that fit, each line behind `indent` blanks. */
export function wrap(text: string, indent: number, width = COLUMNS): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > width) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].map((one) => `${' '.repeat(indent)}${one}`)
}

/** A term and its explanation beside it, or below it where the term is too long. */
export function beside(term: string, about: string, column: number): string[] {
  const [first = '', ...rest] = wrap(about, column)
  return term.length + 2 > column ? [term, first, ...rest] : [`${term.padEnd(column)}${first.trimStart()}`, ...rest]
}
