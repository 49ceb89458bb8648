import type { Place, ProcessId } from './identity.ts'

/** What the daemon and a command must both know to speak with each other. It grows when an older one would be served wrong. */
export const DAEMON_PROTOCOL = 1

/** What the daemon writes down of itself once it alone holds the home: enough to find it, to judge it, and to speak with it. */
export type DaemonRecord = {
  readonly format: 1
  readonly process: ProcessId
  readonly place: Place
  readonly marker: number | null
  readonly version: string
  readonly protocol: number
  readonly startedAt: number
  readonly startedBy: 'run' | 'start' | 'service'
  /** The path of its socket. */
  readonly socket: string
  /** Where it is on loopback, such as http://127.0.0.1:40123; null: not (yet). */
  readonly http: string | null
}

/** How one part of the daemon does. Times are of the clock on the wall. */
export type PartHealth = {
  readonly name: string
  readonly lastSuccess: number | null
  /** Failures in a row. */
  readonly failures: number
  readonly lastError: string | null
  /** Null: it is at work right now. */
  readonly nextTry: number | null
  /** What its last good round counted, such as `runs`; each is a metric too. */
  readonly counts: Readonly<Record<string, number>>
}

export type DaemonHealth = {
  readonly at: number
  readonly healthy: boolean
  /** Which part fails, and how; null: all is well. */
  readonly why: string | null
  readonly parts: readonly PartHealth[]
}
