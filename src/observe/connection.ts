import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { readKernel } from '../lib/index.ts'
import type { Connection, End } from '../model/index.ts'

/** The processes of our user that have the other end of a connection on this machine. None: the kernel does not show that end, or who has it. */
export function holdersOf({ local, remote }: Connection): { readonly pids: readonly number[]; readonly hasStill: (pid: number) => boolean } {
  const wanted = `socket:[${inodeOf(remote, local)}]`
  const uid = process.geteuid?.()
  const pids = readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) && isOf(entry, uid) && holds(entry, wanted) ? [Number(entry)] : []))
  return { pids, hasStill: (pid) => holds(String(pid), wanted) }
}

/** Does it live in this pid namespace? Whoever lives in another one is known there by other names. */
export function livesIn(pid: number, pidNamespace: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`) === pidNamespace
  } catch {
    return false
  }
}

/** Null: it is gone, or may not be looked at. */
export function umaskOf(pid: number): number | null {
  const umask = /^Umask:\s*([0-7]+)$/m.exec(readOr(`/proc/${pid}/status`))?.[1]
  return umask === undefined ? null : Number.parseInt(umask, 8)
}

/** The socket with these two ends. One of no process any more has none. */
function inodeOf(own: End, other: End): string | null {
  for (const { table, hex } of TABLES) {
    const ends = `${hex(own)} ${hex(other)}`
    for (const line of readOr(`/proc/self/net/${table}`).split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      if (`${fields[1]} ${fields[2]}` === ends && fields[9] !== undefined && fields[9] !== '0') return fields[9]
    }
  }
  return null
}

/** An address as the kernel writes it: each word of four bytes as a number of this machine. Who speaks IPv6 has ours in it, too. */
const word = (address: string): string =>
  address
    .replace(/^::ffff:/, '')
    .split('.')
    .toReversed()
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
const portOf = ({ port }: End): string => port.toString(16).padStart(4, '0').toUpperCase()
const TABLES: readonly { readonly table: string; readonly hex: (end: End) => string }[] = [
  { table: 'tcp', hex: (end) => `${word(end.address)}:${portOf(end)}` },
  { table: 'tcp6', hex: (end) => `0000000000000000FFFF0000${word(end.address)}:${portOf(end)}` },
]

const isOf = (pid: string, uid: number | undefined): boolean => {
  try {
    return statSync(`/proc/${pid}`).uid === uid
  } catch {
    return false
  }
}

/** Who may not be looked into is taken to have none: it was neither born from the one that has it, nor given it by chance. */
function holds(pid: string, wanted: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === wanted)
  } catch {
    return false
  }
}

const linkOf = (path: string): string | null => {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

const readOr = (path: string): string => readKernel(path, 'latin1') ?? ''
