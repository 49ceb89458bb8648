/** Where a process lives: the same pid and ticks in another place are another process. */
export type Place = {
  /** Random id of the Holdfast home that wrote the record. */
  readonly install: string
  readonly machine: string
  readonly boot: string
  readonly pidNamespace: string
  readonly timeNamespace: string
}

/** The same numbers on every Linux: the pid namespace that sees all processes, and the time namespace whose ticks all others are told apart from. */
export const INITIAL_PID_NAMESPACE = 'pid:[4026531836]'
export const INITIAL_TIME_NAMESPACE = 'time:[4026531834]'

/** A process at a known place. `ticks` is field 22 of /proc/PID/stat, raw, never converted to a time of day. */
export type ProcessId = { readonly pid: number; readonly ticks: number }

/** USER_HZ is 100 on every architecture that Node runs on. */
export const MS_PER_TICK = 10

export const sameProcess = (a: ProcessId, b: ProcessId): boolean => a.pid === b.pid && a.ticks === b.ticks

/** Linux never gives a larger one; numbers beyond it wrap around in system calls. */
const MAX_PID = 4_194_304

export const isPid = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= MAX_PID

/** 0 and negatives mean groups or everybody, 1 is init: none of them is ever signalled. */
export const isSignallable = (pid: number): boolean => isPid(pid) && pid > 1
