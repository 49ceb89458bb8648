import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { Problem } from '../../model/index.ts'

const MAX_PROMPT = 16 * 1024 * 1024

/** The prompt in a file, or (`-`) on stdin. */
export function readPrompt(path: string): Uint8Array | Problem {
  if (path === '') return new Problem('option-value-missing', '--prompt-file needs a file, or - for stdin')
  const bytes = path === '-' ? readAll(0, MAX_PROMPT) : readFile(path)
  if (bytes instanceof Problem) return bytes
  if (bytes === null)
    return new Problem('prompt-too-long', `the prompt in ${nameOf(path)} is longer than ${MAX_PROMPT / 1024 / 1024} MB`, {
      hint: 'put it into a file in the directory, and tell the agent to read that',
    })
  if (bytes.every((byte) => byte <= 0x20)) return new Problem('prompt-empty', `there is no prompt in ${nameOf(path)}`)
  return bytes
}

/** The prompt as a text. */
export function promptOf(text: string): Uint8Array | Problem {
  if (text.trim() === '') return new Problem('prompt-empty', 'the prompt is empty')
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= MAX_PROMPT) return bytes
  return new Problem('prompt-too-long', `the prompt is longer than ${MAX_PROMPT / 1024 / 1024} MB`)
}

const nameOf = (path: string): string => (path === '-' ? 'stdin' : path)

function readFile(path: string): Uint8Array | Problem | null {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    return new Problem('prompt-unreadable', `the prompt ${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`, {
      hint: 'say where it lies, or - for stdin',
      cause: error,
    })
  }
  try {
    if (fstatSync(fd).isDirectory()) return new Problem('prompt-not-a-file', `the prompt ${path} is a directory`)
    return readAll(fd, MAX_PROMPT)
  } finally {
    closeSync(fd)
  }
}

/** Null: it is longer than that. */
export function readAll(fd: number, most: number): Uint8Array | null {
  const chunks: Buffer[] = []
  for (let size = 0; size <= most; ) {
    const chunk = Buffer.alloc(64 * 1024)
    const read = readSome(fd, chunk)
    if (read === 0) return Buffer.concat(chunks)
    chunks.push(chunk.subarray(0, read))
    size += read
  }
  return null
}

/** A terminal or pipe that is set not to block says EAGAIN instead of waiting. */
function readSome(fd: number, chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(fd, chunk)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EOF') return 0
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  }
}
