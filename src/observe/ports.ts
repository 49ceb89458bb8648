import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Where each process listens: its sockets, looked up in the table of its own network namespace. */
export function listeningPorts(pids: readonly number[]): Map<number, number[]> {
  const tables = new Map<string, Map<string, number>>()
  const found = new Map<number, number[]>()
  for (const pid of pids) {
    try {
      const namespace = readlinkSync(`/proc/${pid}/ns/net`)
      const listeners = tables.get(namespace) ?? listenersOf(pid)
      tables.set(namespace, listeners)
      if (listeners.size === 0) continue
      const ports = socketsOf(pid).flatMap((inode) => listeners.get(inode) ?? [])
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

/** TCP_LISTEN, as the kernel writes it. */
const LISTEN = '0A'

/** inode → port of everything that listens in the namespace of this process. */
function listenersOf(pid: number): Map<string, number> {
  const listeners = new Map<string, number>()
  for (const table of ['tcp', 'tcp6']) {
    for (const line of readTable(`/proc/${pid}/net/${table}`).split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      if (fields[3] === LISTEN && fields[9] !== undefined) listeners.set(fields[9], Number.parseInt(fields[1]?.split(':')[1] ?? '', 16))
    }
  }
  return listeners
}

/** IPv6 may be switched off. */
function readTable(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
    } catch {
      return []
    }
  })
}
