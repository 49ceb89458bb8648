import { closeSync, fstatSync, ftruncateSync, lstatSync, readSync } from 'node:fs'
import { bytesAt, openFile, orNull, replaceFile, withFile } from '../../lib/index.ts'
import { policy } from '../../model/index.ts'

const CHUNK = 64 * 1024

/** The bytes of a file from an offset to its present end, in chunks. Where no file is, there are none. */
export function* readFrom(path: string, from: number): Generator<Buffer> {
  const fd = orNull(() => openFile(path, 'read'))
  if (fd === null) return
  try {
    for (let at = from; ; ) {
      const buffer = Buffer.allocUnsafe(CHUNK)
      const length = readSync(fd, buffer, 0, CHUNK, at)
      if (length === 0) return
      at += length
      yield buffer.subarray(0, length)
    }
  } finally {
    closeSync(fd)
  }
}

/** Where the last `lines` lines begin. */
export function startOfTail(path: string, lines: number): number {
  const size = sizeOf(path)
  const starts: number[] = [0]
  let at = 0
  for (const chunk of readFrom(path, 0)) {
    for (let index = chunk.indexOf(10); index >= 0; index = chunk.indexOf(10, index + 1)) if (at + index + 1 < size) starts.push(at + index + 1)
    at += chunk.length
    if (starts.length > lines * 2 + 1000) starts.splice(0, starts.length - lines - 1)
  }
  return lines === 0 ? size : (starts[Math.max(0, starts.length - lines)] ?? 0)
}

/** When it was last written to; null: it is not there. */
export function timeOf(path: string): number | null {
  const seen = orNull(() => lstatSync(path, { throwIfNoEntry: false }))
  return seen?.isFile() === true ? Math.floor(seen.mtimeMs) : null
}

export function sizeOf(path: string): number {
  const seen = orNull(() => lstatSync(path, { throwIfNoEntry: false }))
  return seen?.isFile() === true ? seen.size : 0
}

/**
 * The agent appends; when the file is over its cap its end is kept beside it and the file begins anew, in place. What the agent
 * writes in between is lost, which a cap without a reader in between cannot avoid. A disk that refuses the copy loses the old part.
 */
export function capLog(path: string): void {
  if (sizeOf(path) <= policy.logCapBytes) return
  withFile(path, 'change', (fd) => {
    keepTail(fd, `${path}.1`)
    ftruncateSync(fd, 0)
  })
}

function keepTail(fd: number, path: string): void {
  const kept = bytesAt(fd, Math.max(0, fstatSync(fd).size - policy.logCapBytes), policy.logCapBytes)
  // What cannot be kept (a full disk, a folder in its place) is lost.
  orNull(() => replaceFile(path, kept))
}
