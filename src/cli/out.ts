import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { Problem } from '../model/index.ts'
import { type Paint, painter, problemJson } from '../show/index.ts'

const colours = (fd: number): boolean => isatty(fd) && process.env['NO_COLOR'] === undefined && process.env['TERM'] !== 'dumb'
export const paintFor = (fd: 1 | 2): Paint => painter(colours(fd))

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

export const textOf = (lines: readonly string[]): string => `${lines.join('\n')}\n`
export const jsonOf = (value: unknown): string => `${JSON.stringify(value, null, isatty(1) ? 2 : undefined)}\n`

/** Messages for people go to stderr, and say who speaks. */
export const say = (message: string): void => write(2, `holdfast: ${message}\n`)

/** For a program: one object on stderr; stdout stays empty, since there is no answer. */
export const sayProblemJson = (problem: Problem): void => write(2, `${JSON.stringify(problemJson(problem))}\n`)

export function sayProblem(problem: Problem): void {
  say(problem.message)
  if (problem.hint !== null) write(2, `  ${paintFor(2).dim(problem.hint)}\n`)
}
