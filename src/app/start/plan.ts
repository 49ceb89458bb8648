import type { CgroupBase, Directory, Harness, NativeId, Problem, Run, Session, SessionRecord, Store, WorktreeOrigin } from '../../model/index.ts'
import type { Caller } from '../caller/prove-caller.ts'
import type { Front } from '../world/front.ts'
import type { World } from '../world/world.ts'
import type { StartRequest } from './request.ts'

/** The facts of a start, in the order in which they are gathered. Each type adds the facts of one stage. */
export type Asked = { readonly world: World; readonly asked: StartRequest }

/** With the proven caller. `front`: null for a run that is not in the foreground. */
export type Called = Asked & { readonly caller: Caller; readonly front: Front | null }

/** With the command. `prompt` and `spoken` are gathered at first use, and only once. */
export type Worded = Called & {
  /** The agent that the request names; null: the request names none, or an unknown one. */
  readonly named: Harness | null
  /** Its executable on PATH. */
  readonly program: string | null
  /** `resume`: the conversation that the request names lies on disk, or nobody can tell. */
  readonly begins: 'start' | 'resume'
  readonly prompt: () => Uint8Array | Problem | null
  readonly spoken: () => AgentCommand
}

/** With the session, as the store knows it. */
export type Known = Called & {
  readonly store: Store
  readonly request: StartRequest
  readonly spoken: AgentCommand
  /** The session that has the conversation on record. */
  readonly owner: SessionRecord | null
  /** The session that the request means; null: a new one. */
  readonly known: Session | null
}

/** With the place. A problem instead of a fact: why it could not be gathered. */
export type Placed = Known & {
  readonly session: string
  readonly from: string | Problem
  readonly around: Directory | Problem
  /** The worktree of the session is gone, and can be made again. */
  readonly gone: Gone | null
}

/** Everything about a start that does not change while the way is cleared. */
export type Plan = {
  readonly world: World
  readonly store: Store
  readonly request: StartRequest
  readonly spoken: AgentCommand
  readonly session: string
  /** Where it works; as long as its worktree is unmade, where that is expected. */
  readonly directory: Directory
  /** The worktree that is still to be found or made. */
  readonly unmade: Unmade | null
  readonly front: Front | null
  readonly lineage: readonly string[]
  readonly parent: Run | null
  readonly ancestors: readonly string[]
  readonly base: CgroupBase
  /** The session's epoch when we first looked. */
  readonly firstEpoch: number
}

/** `dir`: where the session worked in it. */
export type Gone = { readonly origin: WorktreeOrigin; readonly dir: string }

/** `around`: the directory that the worktree is asked from. `gone`: the very one that the session had. */
export type Unmade = { readonly around: Directory; readonly branch: string; readonly gone: Gone | null }

/** What is started, in the words of its harness. */
export type AgentCommand = {
  readonly argv: readonly string[]
  /** Null: we know nothing of it. */
  readonly harness: Harness | null
  /** The conversation that it carries for certain. */
  readonly native: string | null
  /** All that its words name, behind wrappers and in scripts too. */
  readonly names: readonly NativeId[]
  /** An old one: what was burned in it before is not this run's. */
  readonly resumes: boolean
  /** What it reads on stdin. */
  readonly prompt: Uint8Array | null
  /** The request resumes a conversation whose id is unknown, or an agent that takes no id. No command line can say it. */
  readonly unresumable?: true
  /** Without a terminal it does nothing, or worse, and it would have none. */
  readonly needsTerminal?: boolean
  /** Its session goes on when the command is over. */
  readonly daemonizes: boolean
  /** It goes on with the newest of its directory, whichever that is. */
  readonly continues: boolean
}
