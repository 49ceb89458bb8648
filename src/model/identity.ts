/** Where a process lives: the same pid and ticks in another place are another process. */
export type Place = {
  /** Random id of the Holdfast home that wrote the record. */
  readonly install: string
  readonly machine: string
  readonly boot: string
  readonly pidNamespace: string
  readonly timeNamespace: string
}

/** A process at a known place. `ticks` is field 22 of /proc/PID/stat, raw, never converted to a time. */
export type ProcessId = { readonly pid: number; readonly ticks: number }

export const sameProcess = (a: ProcessId, b: ProcessId): boolean => a.pid === b.pid && a.ticks === b.ticks

/** The smallest pid that may ever be signalled: 0 and 1 (and negatives) mean groups, everybody, or init. */
export const FIRST_SIGNALLABLE_PID = 2
