import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { Problem } from '../model/index.ts'
import { type Paint, painter, problemJson } from '../show/index.ts'

const colours = (fd: number): boolean => isatty(fd) && process.env['NO_COLOR'] === undefined && process.env['TERM'] !== 'dumb'
export const paintFor = (fd: 1 | 2): Paint => painter(colours(fd))

/** Straight to the descriptor: nothing is lost when the process ends, and a closed reader is no crash. */
export function write(fd: 1 | 2, data: string | Uint8Array): void {
  let rest = typeof data === 'string' ? Buffer.from(data) : data
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === 'EAGAIN') {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
        continue
      }
      if (code === 'EPIPE' && fd === 1) process.exit(141)
      if (fd === 1) throw new Problem('unavailable', `the answer could not be written to standard output: ${code}`, { cause: error })
      // No stderr: there is nobody to tell.
      return
    }
  }
}

export const print = (lines: readonly string[]): void => {
  if (lines.length > 0) write(1, `${lines.join('\n')}\n`)
}
export const printJson = (value: unknown): void => write(1, `${JSON.stringify(value, null, isatty(1) ? 2 : undefined)}\n`)

/** Messages for people go to stderr, and say who speaks. */
export const say = (message: string): void => write(2, `holdfast: ${message}\n`)

/** For a program: one object on stderr; stdout stays empty, since there is no answer. */
export const sayProblemJson = (problem: Problem): void => write(2, `${JSON.stringify(problemJson(problem))}\n`)

export function sayProblem(problem: Problem): void {
  say(problem.message)
  if (problem.hint !== null) write(2, `  ${paintFor(2).dim(problem.hint)}\n`)
}
