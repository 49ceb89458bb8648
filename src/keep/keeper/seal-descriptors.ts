import { closeSync, openSync, readdirSync } from 'node:fs'
import { readKernelFile } from '../../lib/index.ts'

const CLOSED_ON_EXEC = 0o2000000

/**
 * What our caller has left open beyond the usual three (a lock of a script, a pipe that somebody reads to its end) is not for what outlives him. Node
 * closes only the lowest of it for a child: in each other place the child gets nothing instead. `work` starts it, with these behind its own three.
 */
export function sealed<T>(work: (more: (number | 'ignore')[]) => T): T {
  const left = inherited()
  if (left.length === 0) return work([])
  const nothing = openSync('/dev/null', 'r+')
  try {
    return work(Array.from({ length: Math.max(...left) - 2 }, (_, index) => (left.includes(index + 3) ? nothing : 'ignore')))
  } finally {
    closeSync(nothing)
  }
}

/** All that Node opens itself is closed in its children. */
function inherited(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd > 2 && !isClosedOnExec(fd))
}

function isClosedOnExec(fd: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readKernelFile(`/proc/self/fdinfo/${fd}`).toString('latin1'))?.[1]
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0
  } catch {
    // It was that of the look itself.
    return true
  }
}
