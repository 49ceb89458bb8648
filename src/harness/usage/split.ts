import { readSync } from 'node:fs'

const CHUNK_BYTES = 256 * 1024
/** A line over this (the result of a tool, with all it printed) is passed over: what was burned takes a few hundred bytes. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024

export type Place = { readonly offset: number; readonly skipping: boolean }

/** Gives each whole line between a place and `to`; answers where to go on. What is half written is left for the next time. */
export function eachLine(fd: number, from: Place, to: number, take: (line: Buffer) => void): Place {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let { offset: position, skipping } = from
  let pending: Buffer[] = []
  let held = 0
  while (position < to) {
    const count = readSync(fd, chunk, 0, Math.min(CHUNK_BYTES, to - position), position)
    if (count === 0) break
    position += count
    let rest = chunk.subarray(0, count)
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      if (!skipping && held + end <= MAX_LINE_BYTES) take(Buffer.concat([...pending, rest.subarray(0, end)]))
      skipping = false
      pending = []
      held = 0
      rest = rest.subarray(end + 1)
    }
    skipping ||= held + rest.length > MAX_LINE_BYTES
    pending = skipping ? [] : [...pending, Buffer.from(rest)]
    held = skipping ? 0 : held + rest.length
  }
  return { offset: position - held, skipping }
}
