import type { Environment } from '../environment.ts'
import type { Asking } from '../harness-daemon.ts'
import type { ProcessId } from '../identity.ts'
import type { RunRecord } from '../run.ts'

/** A keeper that waits at its gate. Closing the gate, or our death, means nothing ever runs. */
export type GatedKeeper = { readonly keeper: ProcessId; open(): void | Promise<void>; close(): void }

export interface Keepers {
  /** Can a marker be set here? If not, why. */
  markerTrouble(): string | null
  /** Can the user's systemd make a scope? If not, why. */
  scopeTrouble(env: Environment): string | null
  spawn(launch: Launch): Promise<GatedKeeper>
  /** Gives a process that runs already a marker, or (null) takes it away again; false if that failed. */
  mark(pid: number, marker: number | null): boolean
  /** In the foreground: tells the command that waits for us to become the keeper. */
  handOver(launch: Launch): void
  /** Asks a harness its own way, for so long at most; what it says is nobody's. */
  ask(asking: Asking, env: Environment, ms: number): Promise<void>
  /** Runs our own command as a process that belongs to no run and has no parent here; answers its pid. */
  outside(args: readonly string[], env: Environment, marker: number | null, cgroup: string | null): Promise<number>
  /** Runs our own command as the leader of a session of its own; answers who it is, and asks how it ended once it has. */
  apart(
    args: readonly string[],
    how: Apart,
  ): { readonly pid: number | null; readonly code: () => number | null; readonly trouble: () => string | null }
}

/** `folder`: where it works. `log`: what it says is added there. */
export type Apart = {
  readonly env: Environment
  readonly marker: number | null
  readonly cgroup: string | null
  readonly folder: string
  readonly log: string
}

export type Launch = {
  readonly run: RunRecord
  readonly environment: Environment
  /** Variables of the caller that must not reach the harness. */
  readonly stripped: readonly string[]
  readonly added: Readonly<Record<string, string>>
  readonly helperMarker: number | null
  /** The cgroup its keeper belongs to, where that is not the one it is born in. */
  readonly keeperCgroup: string | null
  readonly cgroupMount: string | null
  readonly timeoutSeconds: number | null
  /** What of its agent is to be followed while it runs: its native id until that is known (`id`), or what it burns (`budget`). */
  readonly follow: 'id' | 'budget' | null
  /** The file that it reads as its stdin; null: the caller's, or none. */
  readonly stdin: string | null
  readonly umask: number
  /** INT and QUIT, unless the caller ignores them. */
  readonly defaultSignals: readonly string[]
}
