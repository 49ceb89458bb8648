import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { isLive } from '../model/index.ts'
import { seeOne } from './see.ts'
import type { World } from './world.ts'

const CHUNK = 64 * 1024

/** The output of a session's newest run, oldest first; `follow` goes on until it ends. Only detached runs have a log. */
export async function* logs(world: World, reference: string, how: { follow: boolean; lines: number | null }): AsyncGenerator<Buffer> {
  const first = await seeOne(world, reference)
  world.files.capLog(first.run.id)
  const path = world.files.log(first.run.id)
  const from = how.lines === null ? 0 : startOfTail(path, how.lines)
  if (how.lines === null && existsSync(`${path}.1`)) yield* readFrom(`${path}.1`, 0)
  let at = from
  for (let over = !isLive(first.run); ; ) {
    for (const chunk of readFrom(path, at)) {
      at += chunk.length
      yield chunk
    }
    if (!how.follow || over) return
    await world.clock.sleep(world.policy.followMs)
    if (sizeOf(path) < at) at = 0
    over = !isLive((await seeOne(world, reference)).run)
  }
}

function* readFrom(path: string, from: number): Generator<Buffer> {
  if (!existsSync(path)) return
  const fd = openSync(path, 'r')
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
function startOfTail(path: string, lines: number): number {
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

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0)
