import type { Containment } from './containment.ts'
import type { Exit } from './exit.ts'
import type { Member, Spared, Suspect } from './fact.ts'
import type { Place, ProcessId } from './identity.ts'
import type { Pane } from './pane.ts'
import type { EndState } from './states.ts'
import type { Tokens } from './usage.ts'

/** What every run has from its claim on. */
export type RunBase = {
  readonly id: string
  readonly session: string
  readonly epoch: number
  readonly place: Place
  readonly launcher: ProcessId
  readonly marker: number | null
  readonly containment: Containment
  readonly cookie: string
  readonly argv: readonly string[]
  readonly dir: string
  readonly detached: boolean
  readonly until: Until
  readonly deadlineAt: number | null
  readonly parent: string | null
  readonly independent: boolean
  /** What becomes of a task when its parent is taken over; null: it is no task. */
  readonly task: OnRetire | null
  /** It ran before we knew of it: it has no keeper, and is its own first key. */
  readonly adopted: boolean
  /** How many tokens it may burn. */
  readonly budget: number | null
  /** How much it may cost, in US dollars. */
  readonly budgetCost: number | null
  /** The pane that it is hosted in; null: none. */
  readonly tmux: Pane | null
  readonly host: string
  readonly user: string
  readonly tty: string | null
  readonly startedAt: number
}

/** What the run directory alone tells, when the store cannot be asked. `former`: ids that its session had before. */
export type RunRecord = RunBase & { readonly keeper: ProcessId | null; readonly former?: readonly string[] }

export type OnRetire = 'cancel' | 'adopt'

/** Does a run end with its harness, or with the last process of its tree? */
export type Until = 'harness' | 'tree'

/** Why somebody wants a run to end, what it shall be called then, and how long those who asked give it. */
export type Intent = {
  readonly end: 'stopped' | 'superseded'
  readonly by: string
  readonly reason: string
  readonly graceMs?: number
}

/** Who ended a run, where nobody asked: its time, its tokens, the end of the session that it was started in, or of the tmux server that it was hosted by. */
export const BY = { timeout: 'timeout', budget: 'budget', orphan: 'orphan', server: 'tmux', idle: 'idle', noProgress: 'no-progress' } as const

/** Somebody asked for it (`user@host`), or signalled the command, or closed its terminal (`SIGHUP`). */
export const isByPerson = (by: string): boolean => by.includes('@') || by.startsWith('SIG')

export type Survivor = { readonly pid: number; readonly name: string; readonly why: string }

export type Starting = RunBase & { readonly state: 'starting'; readonly keeper: ProcessId | null }
export type Running = RunBase & {
  readonly state: 'running'
  readonly keeper: ProcessId | null
}
export type Stopping = RunBase & {
  readonly state: 'stopping'
  readonly keeper: ProcessId | null
  readonly intent: Intent | null
  readonly exit: Exit | null
  readonly survivors: readonly Survivor[]
}
export type Ended = RunBase & {
  readonly state: EndState
  readonly keeper: ProcessId | null
  readonly harness: ProcessId | null
  readonly endedAt: number
} & Ending

export type LiveRun = Starting | Running | Stopping
export type Run = LiveRun | Ended

/** How a run ended: the state it takes, and everything that proves it. */
export type Ending = {
  readonly state: EndState
  readonly exit: Exit | null
  readonly reason: string
  readonly evidence: readonly string[]
  readonly by: string
  readonly usage?: Usage | null
}

/** What a run has burned, as far as the machine can tell. `whole`: nothing was left out; otherwise it is at least this much. */
export type Usage = {
  readonly cpuMs: number
  readonly whole: boolean
  /** What its harness says it has burned; null or left out: it does not say. */
  readonly tokens?: Tokens | null
}

export const isLive = (run: Run): run is LiveRun => run.state === 'starting' || run.state === 'running' || run.state === 'stopping'

/** The words of an ending before which nothing of the agent ran. */
export const NOT_STARTED = 'could not start'

/** Nothing of its session ever ran: it is the first run, and its agent did not start. */
export const neverBegan = (run: Run): boolean =>
  run.epoch === 1 && run.state === 'failed' && (run.exit === null || run.reason.startsWith(`${NOT_STARTED} `))

export const intentOf = (run: Run): Intent | null => (run.state === 'stopping' ? run.intent : null)

/** What came of ending a run: seen gone, or not. */
export type RunEnd =
  | {
      readonly kind: 'ended'
      readonly run: Run
      readonly ended: readonly Member[]
      readonly spared: readonly Spared[]
      readonly unrecorded: Error | null
      /** They may be of it, and were left alone: no proof says so. Left out: nobody was looked for. */
      readonly suspects?: readonly Suspect[]
    }
  | { readonly kind: 'survivors'; readonly run: Run; readonly survivors: readonly Survivor[]; readonly ended: readonly Member[] }
  | { readonly kind: 'unknown'; readonly run: Run; readonly why: string }
  /** Its owner is alive, and nobody asked for its end. */
  | { readonly kind: 'alive'; readonly run: Run }
