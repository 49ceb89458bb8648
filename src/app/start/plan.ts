import type { CgroupBase, Directory, Harness, Run, Store } from '../../model/index.ts'
import type { Front } from '../world/front.ts'
import type { World } from '../world/world.ts'
import type { StartRequest } from './request.ts'

/** Everything about a start that does not change while the way is cleared. */
export type Plan = {
  readonly world: World
  readonly store: Store
  readonly request: StartRequest
  readonly spoken: Spoken
  readonly session: string
  readonly directory: Directory
  /** The worktree that was made for this start. */
  readonly made: string | null
  readonly front: Front | null
  readonly lineage: readonly string[]
  readonly parent: Run | null
  readonly ancestors: readonly string[]
  readonly base: CgroupBase
  /** The session's epoch when we first looked. */
  readonly firstEpoch: number
}

/** What is started, in the words of its harness. */
export type Spoken = {
  readonly argv: readonly string[]
  /** Null: we know nothing of it. */
  readonly harness: Harness | null
  /** The conversation that it carries for certain. */
  readonly native: string | null
  /** An old one: what was burned in it before is not this run's. */
  readonly resumes: boolean
  /** What it reads on stdin. */
  readonly prompt: Uint8Array | null
  /** Its session goes on when the command is over. */
  readonly daemonizes: boolean
  /** It goes on with the newest of its directory, whichever that is. */
  readonly continues: boolean
}
