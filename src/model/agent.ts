import type { ProcessRow } from './fact.ts'
import type { ProcessId } from './identity.ts'

/** A process as far as telling an agent goes. */
export type Candidate = {
  readonly row: ProcessRow
  readonly exe: string | null
  readonly argv: readonly string[]
  readonly cwd: string | null
  /** The files with such a path that it has open for writing; left out: that was not looked at. */
  readonly writes?: (path: RegExp) => readonly string[]
}

/** An agent CLI at work. `launchers`: processes that only started it, outermost first. */
export type Agent = {
  readonly harness: string
  readonly row: ProcessRow
  readonly launchers: readonly ProcessRow[]
  readonly argv: readonly string[]
  readonly cwd: string | null
  /** The harness's own id of the session, where that is proven. */
  readonly nativeId: string | null
  /** The id that its command line names: it may have gone on to another one since. */
  readonly named: string | null
}

/** What a harness itself says about one of its live processes; true only of the very process that it names. */
export type Registered = {
  readonly harness: string
  readonly process: ProcessId
  readonly cwd: string
  readonly nativeId: string | null
  /** One that serves sessions, and is none. */
  readonly service: boolean
}
