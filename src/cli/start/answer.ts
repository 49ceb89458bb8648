import { closeSync, constants, openSync, readSync } from 'node:fs'
import { ReadStream } from 'node:tty'
import { say } from '../out.ts'

/** No answer is longer. A line may be, and is read to its end all the same. */
const ANSWER_BYTES = 64
const LINE_BYTES = 1024 * 1024
/** A paste comes in parts: input is thrown away until none has come for so long, and for so long at most. */
const QUIET_MS = 60
const FLUSH_MS = 1_000
const STEP_MS = 10

/**
 * Asks the person at the terminal, and reads one line. What was pasted behind it is thrown away: neither the shell nor an agent shall take it for a
 * command.
 */
export function answerTo(question: string): string {
  const terminal = openSync('/dev/tty', 'r')
  try {
    say(question)
    return readLine(terminal).trim()
  } finally {
    closeSync(terminal)
    flush()
  }
}

function readLine(terminal: number): string {
  const buffer = Buffer.alloc(4096)
  let line = ''
  for (let read = 0; read < LINE_BYTES; ) {
    const length = readSync(terminal, buffer, 0, buffer.length, null)
    const text = buffer.toString('latin1', 0, length)
    const end = text.indexOf('\n')
    line = `${line}${end < 0 ? text : text.slice(0, end)}`.slice(0, ANSWER_BYTES + 1)
    if (length === 0 || end >= 0) return line.length > ANSWER_BYTES ? '' : line
    read += length
  }
  return ''
}

/** In raw mode a line without its end can be read as well. */
function flush(): void {
  const raw = new ReadStream(openSync('/dev/tty', 'r+'))
  const terminal = openSync('/dev/tty', constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    raw.setRawMode(true)
    const buffer = Buffer.alloc(4096)
    const end = performance.now() + FLUSH_MS
    for (let quiet = 0; quiet < QUIET_MS && performance.now() < end; ) {
      quiet = takesSome(terminal, buffer) ? 0 : quiet + STEP_MS
      if (quiet > 0) pause(STEP_MS)
    }
  } finally {
    raw.setRawMode(false)
    raw.destroy()
    closeSync(terminal)
  }
}

function takesSome(terminal: number, buffer: Buffer): boolean {
  try {
    return readSync(terminal, buffer, 0, buffer.length, null) > 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false
    throw error
  }
}

const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
