import type { Fact } from './fact.ts'
import type { Place, ProcessId } from './identity.ts'
import type { Notified } from './notify.ts'

/** What the daemon and a command must both know to speak with each other. It grows when an older one would be served wrong. */
export const DAEMON_PROTOCOL = 1

/** With this, each of our requests says what it expects. */
export const PROTOCOL_HEADER = 'holdfast-protocol'

export type StartedBy = 'run' | 'start' | 'service'

/** What the daemon writes down of itself once it alone holds the home: enough to find it, to judge it, and to speak with it. */
export type DaemonRecord = {
  readonly format: 1
  readonly process: ProcessId
  readonly place: Place
  readonly marker: number | null
  readonly version: string
  readonly protocol: number
  readonly startedAt: number
  readonly startedBy: StartedBy
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

/** What is known of a home's daemon at one moment. The lock is the kernel's word; the record is only the daemon's own. */
export type DaemonLook = {
  readonly lock: 'free' | 'held'
  /** Who holds it, as the kernel says; null: nobody whom we can see. */
  readonly holder: ProcessId | null
  readonly record: DaemonRecord | null
  /** Of the process on record; null: there is none. */
  readonly fact: Fact | null
  /** The process on record has a lock file of this home open: it is a daemon, whatever became of the file. */
  readonly hasLockFileOpen: boolean
  /** What lies there that only a living one needs. */
  readonly remains: readonly string[]
}

export type DaemonPresence =
  | { readonly kind: 'none' }
  /** Nobody holds the home, but somebody left this there. */
  | { readonly kind: 'dead'; readonly record: DaemonRecord | null; readonly remains: readonly string[] }
  /** `record`: null while it comes up. */
  | { readonly kind: 'alive'; readonly process: ProcessId; readonly frozen: boolean; readonly record: DaemonRecord | null }
  /** The home is held, by a process that cannot be looked at from here. */
  | { readonly kind: 'unseen'; readonly record: DaemonRecord | null; readonly why: string }

/** What a daemon says when it is asked how it does. */
export type DaemonAnswer =
  | { readonly kind: 'health'; readonly health: DaemonHealth }
  /** It speaks another protocol than we do. */
  | { readonly kind: 'other'; readonly version: string | null; readonly protocol: number | null }
  | { readonly kind: 'silent'; readonly why: string }

/** `health`: what it just said, or what it wrote down last. `repaired`: what was done about the remains of a dead one, in words. */
export type DaemonStatus = {
  readonly presence: DaemonPresence
  readonly answer: DaemonAnswer | null
  readonly health: DaemonHealth | null
  readonly repaired: readonly string[]
}

/** The daemon's folder in the home. */
export interface DaemonFiles {
  readonly folder: string
  readonly lock: string
  readonly socket: string
  readonly log: string
  /** Private from creation. Throws a Problem where something else lies in its place. */
  make(): void
  /** Which folder it is: another one, or none (null), after it was replaced or removed. */
  identity(): string | null
  /** Null: none, or none that makes sense. */
  record(): DaemonRecord | null
  writeRecord(record: DaemonRecord): void
  /** And with it how the daemon did. */
  removeRecord(): void
  health(): DaemonHealth | null
  /** False: a full disk, or no folder any more. */
  writeHealth(health: DaemonHealth): boolean
  /** The port on loopback that it had last; 0: it had none, or nobody knows. */
  port(): number
  /** False as above. */
  keepPort(port: number): boolean
  /** Null: nobody has looked yet, or it makes no sense. */
  notified(): Notified | null
  writeNotified(notified: Notified): void
  /** One line at the end of the log, with the time and who writes; within its cap. False: it could not. */
  tell(line: string, at: number): boolean
  /** What others write to it, such as the runtime when it dies, is capped here. */
  capLog(): void
  /** A link or a pipe in the place of the log is moved aside: nothing is written through it. Answers where it lies now; null: there was none. */
  mendLog(): string | null
  /** Why nothing can be written to the log, such as "is a directory"; null: it is a file. */
  logTrouble(): string | null
  logSize(): number
  /** Its last lines, of those that came after so much of it. */
  lastWords(lines: number, after: number): string
  /** Is this descriptor of ours the log itself? */
  isLog(fd: number): boolean
  /** What only a living daemon needs: its record, its socket, what it had half written. */
  remains(): readonly string[]
  /** Takes them away, with the litter and how it did; only who holds the lock may. */
  clear(): void
  /** What was half written, or moved out of the way, and nobody needs: each with the pid of its writer, if that may be at it still. */
  litter(): readonly { readonly name: string; readonly writer: number | null }[]
  removeLitter(name: string): void
}
