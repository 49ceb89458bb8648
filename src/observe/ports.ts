import { closeSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { readKernel } from '../lib/index.ts'

/**
 * Where each process listens: its sockets, looked up in the table of its own network namespace. Tables cost the most: one is read only if
 * somebody has a socket there.
 */
export function listeningPorts(pids: readonly number[]): Map<number, number[]> {
  const namespaces = new Map<string, Namespace>()
  const found = new Map<number, number[]>()
  for (const pid of pids) {
    try {
      const name = readlinkSync(`/proc/${pid}/ns/net`)
      const namespace = namespaces.get(name) ?? namespaceOf(pid)
      namespaces.set(name, namespace)
      const sockets = namespace.tables.length === 0 ? [] : socketsOf(pid)
      if (sockets.length === 0) continue
      namespace.listeners ??= listenersIn(pid, namespace.tables)
      const ports = sockets.flatMap((inode) => namespace.listeners?.get(inode) ?? [])
      if (ports.length > 0)
        found.set(
          pid,
          [...new Set(ports)].toSorted((a, b) => a - b),
        )
    } catch {
      // It ended, or is not ours to look into: then nothing is said of it.
    }
  }
  return found
}

/** `tables`: those with any socket in them. `listeners`: inode → port, once they were read. */
type Namespace = { readonly tables: readonly string[]; listeners: Map<string, number> | null }

/** The kernel knows how many sockets there are; to list them it walks through all of its buckets, full or not, which takes milliseconds. */
const namespaceOf = (pid: number): Namespace => ({
  tables: TABLES.filter(({ counter, unused }) => !unused.test(readOr(`/proc/${pid}/net/${counter}`))).map(({ table }) => table),
  listeners: null,
})

const TABLES = [
  { table: 'tcp', counter: 'sockstat', unused: /^TCP: inuse 0 /m },
  { table: 'tcp6', counter: 'sockstat6', unused: /^TCP6: inuse 0$/m },
] as const

/** TCP_LISTEN, as the kernel writes it. */
const LISTEN = '0A'

function listenersIn(pid: number, tables: readonly string[]): Map<string, number> {
  const listeners = new Map<string, number>()
  for (const table of tables) {
    for (const line of readTable(`/proc/${pid}/net/${table}`).split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      if (fields[3] === LISTEN && fields[9] !== undefined) listeners.set(fields[9], Number.parseInt(fields[1]?.split(':')[1] ?? '', 16))
    }
  }
  return listeners
}

/** The kernel gives a page at a time. One that is not full was the last: to be told so would be another walk. */
const PAGE_BYTES = 4096
const LONGEST_LINE = 512
const page = Buffer.allocUnsafe(64 * 1024)

function readTable(path: string): string {
  let fd: number | null = null
  try {
    fd = openSync(path, 'r')
    const parts: string[] = []
    for (let length = page.length; length >= PAGE_BYTES - LONGEST_LINE; ) {
      length = readSync(fd, page, 0, page.length, null)
      parts.push(page.toString('latin1', 0, length))
    }
    return parts.join('')
  } catch {
    return ''
  } finally {
    if (fd !== null) closeSync(fd)
  }
}

/** IPv6 may be switched off. */
const readOr = (path: string): string => readKernel(path, 'latin1') ?? ''

function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
    } catch {
      return []
    }
  })
}
