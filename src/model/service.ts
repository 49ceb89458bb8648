import type { ProcessId } from './identity.ts'

/** The unit file where systemd reads it. `edited`: Holdfast wrote it, and its text changed since; `foreign`: Holdfast did not write it. */
export type ServiceFile = 'absent' | 'ours' | 'edited' | 'foreign'

/** The state of the unit, as systemd tells it. */
export type UnitState = {
  readonly enabled: boolean
  readonly active: boolean
  /** In the words of systemd. */
  readonly state: string
  readonly pid: number | null
  /** How its last life ended, if that was no good end. */
  readonly trouble: string | null
}

/** The daemon that holds the home; `startedBy` null: it has not said yet. */
export type HomesDaemon = { readonly process: ProcessId; readonly startedBy: 'run' | 'start' | 'service' | null }

/** `daemon`: a text says why it cannot be told. */
export type ServiceFacts = {
  readonly file: ServiceFile
  /** Null: systemd could not be asked. */
  readonly unit: UnitState | null
  readonly daemon: HomesDaemon | string | null
}

/** Which daemon runs, if any, and who started it. */
export type Runs = 'nothing' | 'service' | 'by-hand' | 'unknown'

export type ServiceStatus = ServiceFacts & {
  readonly name: string
  readonly path: string
  /** The file says what this Holdfast would write now. */
  readonly current: boolean
  /** Why systemd could not be asked. */
  readonly unreachable: string | null
  readonly runs: Runs
  /** What does not fit together, in a sentence; null: all does. */
  readonly disagreement: string | null
}

export type ServiceInstalled = {
  readonly name: string
  readonly path: string
  readonly did: 'installed' | 'updated' | 'nothing'
  /** The daemon that was started by hand, and that the service's took the place of. */
  readonly replaced: number | null
  readonly pid: number | null
  readonly notes: readonly string[]
}

export type ServiceRemoved = { readonly name: string; readonly path: string; readonly did: 'removed' | 'nothing'; readonly notes: readonly string[] }

/** The values that a unit is made of. */
export type ServiceSpec = {
  readonly name: string
  readonly home: string
  /** All absolute. */
  readonly node: string
  readonly command: string
  readonly path: string
}
