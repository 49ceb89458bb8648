import type { Containment } from './containment.ts'
import type { Place, ProcessId } from './identity.ts'

/**
 * A directory by what it is. `key`: device, inode and (where the file system tells) the time it was made, since numbers are used again.
 * `inner`: its place within its file system, which a bind mount does not change. A path alone can lie.
 */
export type Directory = {
  readonly path: string
  readonly key: string
  readonly inner: string
  /** The keys and inner places of all directories above it. */
  readonly above: readonly string[]
  /** The inner places that are mounted somewhere below it: they are part of it too. */
  readonly below: readonly string[]
  readonly repository: Repository | null
}

/** The git repository a directory lies in: linked worktrees have one `common` and a `top` of their own. `root`: the top folder of its working tree. */
export type Repository = { readonly common: string; readonly top: string; readonly root: string }

/** A directory that is held. It depends on no other record: who holds it can be judged from here alone. */
export type Lock = {
  /** Grows with every lock ever taken. */
  readonly seq: number
  readonly directory: Directory
  readonly holder: Holder
  readonly place: Place
  /** Of the run that holds it; of a lock by hand, of the run that it was taken in. */
  readonly session: string | null
  readonly run: string | null
  readonly since: number
  readonly reason: string
  /** Those beside whom it was taken on purpose (--share). */
  readonly shared: readonly SharedWith[]
  readonly host: string
  readonly user: string
}

export type SharedWith = { readonly session: string | null; readonly run: string | null; readonly dir: string }

export type Holder = RunHolder | HandHolder
export type HandHolder = ProcessHolder | TimeHolder
/** The tree of a run, by everything that proves membership. */
export type RunHolder = {
  readonly kind: 'run'
  readonly launcher: ProcessId
  readonly keeper: ProcessId | null
  readonly marker: number | null
  readonly cookie: string
  readonly containment: Containment
  readonly adopted: boolean
}
/** By hand: one process. */
export type ProcessHolder = {
  readonly kind: 'process'
  readonly by: ProcessId
  readonly name: string
  readonly limit: Limit | null
}
/** By hand: nobody but the time. */
export type TimeHolder = { readonly kind: 'time'; readonly limit: Limit }

/** When a lock by hand ends: measured from `ticks` on, which no clock can be set to; `at` speaks only where those mean nothing. */
export type Limit = { readonly ms: number; readonly ticks: number; readonly at: number }

/** How a wanted directory lies to a held one. */
export type Relation = 'same' | 'inside' | 'around'
