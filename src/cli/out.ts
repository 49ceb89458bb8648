import { writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { isatty } from 'node:tty'
import { Problem, plainParagraph } from '../model/index.ts'
import { doorLine, jsonText, type Page, type Paint, painter, plain, problemJson, problemText, terminalText } from '../show/index.ts'

const colours = (fd: number): boolean => isatty(fd) && process.env['NO_COLOR'] === undefined && process.env['TERM'] !== 'dumb'
/** Of this process alone, so that nothing from elsewhere can paint. */
const KEY = Math.random().toString(36).slice(2)
export const paintFor = (fd: 1 | 2): Paint => painter(colours(fd), KEY)
/** A terminal has its width; elsewhere COLUMNS may ask for one. */
export const pageFor = (fd: 1 | 2): Page => ({
  columns: isatty(fd) ? widthOf(fd) : columnsAsked(),
  home: process.env['HOME'] ?? homedir(),
  ahead: (at) => -new Date(at).getTimezoneOffset(),
})
const widthOf = (fd: 1 | 2): number =>
  Math.max((fd === 1 ? process.stdout : process.stderr).columns || (columnsAsked() ?? USUAL_COLUMNS), FEWEST_COLUMNS)
const USUAL_COLUMNS = 80
const FEWEST_COLUMNS = 40
function columnsAsked(): number | null {
  const asked = Number(process.env['COLUMNS'])
  return Number.isInteger(asked) && asked > 0 ? Math.max(asked, FEWEST_COLUMNS) : null
}
const throughDoor = (fd: 1 | 2, lines: readonly string[]): string => `${lines.map((line) => doorLine(line, colours(fd) ? KEY : null)).join('\n')}\n`

/** Straight to the descriptor: nothing is lost when the process ends, and a closed reader is no crash. */
export function write(fd: 1 | 2, data: string | Uint8Array): void {
  const trouble = tryWrite(fd, data)
  // Without stderr there is nobody to tell.
  if (trouble !== null && fd === 1) leaveUnread(trouble)
}

/** Why it could not be written, if so. */
export function tryWrite(fd: 1 | 2, data: string | Uint8Array): NodeJS.ErrnoException | null {
  let rest = typeof data === 'string' ? Buffer.from(data) : data
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return error as NodeJS.ErrnoException
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
  return null
}

/** The answer could not be given. */
export function leaveUnread(trouble: NodeJS.ErrnoException): never {
  if (trouble.code === 'EPIPE') process.exit(141)
  throw new Problem('output-unwritable', `the answer could not be written to standard output: ${trouble.code}`, { cause: trouble })
}

export const print = (lines: readonly string[]): void => {
  if (lines.length > 0) write(1, textOf(lines))
}
export const printJson = (value: unknown): void => write(1, jsonOf(value))
/** One object a line. */
export const printJsonLine = (value: unknown): void => write(1, `${jsonText(value)}\n`)

/** A line stays one line, whatever stands in it. */
export const textOf = (lines: readonly string[]): string => throughDoor(1, lines)
export const jsonOf = (value: unknown): string => `${jsonText(value, isatty(1) ? 2 : undefined)}\n`

/** The output of an agent: every byte as it is for a program and a file, and for a terminal nothing that steers it. */
export async function pass(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const shown = isatty(1) ? terminalText() : null
  for await (const chunk of chunks) write(1, shown === null ? chunk : shown.take(chunk))
  if (shown !== null) write(1, shown.end())
}

/** Another screen of the terminal, without a cursor, on which lines are shown again and again. */
export const screen = {
  enter: (): void => write(1, '\u001B[?1049h\u001B[?25l'),
  show: (lines: readonly string[]): void =>
    write(1, `\u001B[H\u001B[2J${textOf(lines.slice(0, Math.max(1, (process.stdout.rows || USUAL_ROWS) - 1))).trimEnd()}`),
  leave: (): void => write(1, '\u001B[?25h\u001B[?1049l'),
}
const USUAL_ROWS = 24

/** Messages for people go to stderr, and say who speaks. */
export const say = (message: string): void => write(2, `holdfast: ${plain(message)}\n`)

/** A bug, with the lines of its stack. */
export const sayBug = (error: unknown): void =>
  write(2, `holdfast: ${plainParagraph(`a bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)}\n`)

/** For a program: one object on stderr; stdout stays empty, since there is no answer. */
export const sayProblemJson = (problem: Problem): void => write(2, `${jsonText(problemJson(problem))}\n`)

export const sayProblem = (problem: Problem): void => write(2, `holdfast: ${throughDoor(2, problemText(problem, paintFor(2)))}`)
