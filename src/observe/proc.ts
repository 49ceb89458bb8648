import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { ProcessRow } from '../model/index.ts'

/** Files under /proc have no size; the largest we need (a stat line, limits) is far below this. */
const SMALL = Buffer.allocUnsafe(8192)
const PF_KTHREAD = 0x0020_0000

export type StatRow = ProcessRow & { readonly kernelThread: boolean }

/** Reads a small /proc file into one shared buffer. Throws what the kernel says. */
export function readSmall(path: string): { text: string; uid: number } {
  const fd = openSync(path, 'r')
  try {
    const length = readSync(fd, SMALL, 0, SMALL.length, 0)
    return { text: SMALL.toString('latin1', 0, length), uid: fstatSync(fd).uid }
  } finally {
    closeSync(fd)
  }
}

/** A name may hold spaces and parentheses, so the fields are counted after the last `)`. */
export function parseStat(text: string, uid: number): StatRow | null {
  const open = text.indexOf('(')
  const close = text.lastIndexOf(')')
  if (open < 1 || close < open) return null
  const pid = Number(text.slice(0, open))
  const fields = text
    .slice(close + 2)
    .trimEnd()
    .split(' ')
  const number = (field: number): number => Number(fields[field - 3])
  const row = {
    pid,
    ticks: number(22),
    state: stateOf(fields),
    parent: number(4),
    group: number(5),
    session: number(6),
    uid,
    name: text.slice(open + 1, close),
    waitStatus: stateOf(fields) === 'Z' ? zombieStatus(fields) : null,
    kernelThread: (number(9) & PF_KTHREAD) !== 0,
  }
  return Number.isInteger(pid) && Number.isInteger(row.ticks) && row.state !== '' ? row : null
}

/** A process whose first thread has left while others work shows `Z` too, but is alive: it is shown as `L`, its leader gone. */
function stateOf(fields: readonly string[]): string {
  const threads = Number(fields[20 - 3])
  return fields[0] === 'Z' && threads > 1 ? 'L' : (fields[0] ?? '')
}

/**
 * Field 52. To those who may not look the kernel shows 0, which would read as "exit 0"; to them it also shows 0 as the wait
 * channel (field 35), which is never 0 for a zombie otherwise.
 */
function zombieStatus(fields: readonly string[]): number | null {
  if (fields[35 - 3] === '0') return null
  const status = Number(fields[52 - 3])
  return Number.isInteger(status) ? status : null
}

/** The RLIMIT_RTTIME soft limit; null when it is unlimited. */
export function parseRttime(limits: string): number | null {
  const at = limits.indexOf('Max realtime timeout')
  if (at < 0) return null
  const soft = limits.slice(at + 26, at + 47).trim()
  return /^\d+$/.test(soft) ? Number(soft) : null
}
