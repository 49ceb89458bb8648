import type { Neighbours } from '../decide/index.ts'
import type {
  Agent,
  Cgroups,
  Clock,
  Containers,
  HarnessDaemon,
  HarnessDaemonRules,
  Keepers,
  LiveRun,
  Member,
  Policy,
  Processes,
  ProcessId,
  ProcessRow,
  ProcessTable,
  RunFiles,
  RunRecord,
  RunRoot,
  SpareRule,
  Tokens,
} from '../model/index.ts'

/** What looking needs. */
export type LookPorts = Pick<RunFiles, 'evidence' | 'fences' | 'agentState' | 'runRecords'> & {
  readonly processes: Processes
  readonly cgroups: Cgroups
  /** What is born inside a run and not ours to end. */
  readonly spares: () => readonly SpareRule[]
  /** Those of the rows that are a daemon which a harness keeps for all of its sessions. */
  readonly harnessDaemons: (rows: readonly ProcessRow[]) => readonly HarnessDaemon[]
  /** What is known of the harnesses that keep one. */
  readonly harnessDaemonRules: HarnessDaemonRules
  /** What a run's agent says it has burned; null: it does not say. */
  readonly tokensOfRun: (run: string) => Tokens | null
  /** Signals after which a run's agent exits with 0. */
  readonly exitsZeroAfter: (run: Lookable) => readonly string[]
  /** Our own daemon, by its record and by the lock that it holds; null: there is none. */
  readonly ownDaemon: () => ProcessId | null
  /** All live runs on record, by what they can prove from their own side. */
  readonly liveRoots: () => Promise<readonly RunRoot[]>
}
/** What ending needs as well. */
export type EndPorts = LookPorts &
  Pick<RunFiles, 'runLogs'> & {
    readonly clock: Clock
    readonly policy: Policy
    readonly containers: Containers
    /** Has a harness end something its own way. */
    readonly ask: Keepers['ask']
    /** Agents among the members of a run that are not the one it is about: a review, or whatever its tools started. */
    readonly nestedAgents: (run: Lookable, members: readonly Member[]) => readonly Agent[]
  }

/** A run as far as looking goes: from the store, or from its directory alone. */
export type Lookable = LiveRun | RunRecord

/** One look at everybody, and then at who is on record: whoever claimed before we ask is known as another run. */
export type Pass = { readonly table: ProcessTable; readonly near: Neighbours }

/** From here on markers and secrets are looked at: the keeper itself included. */
export const lookedAtSince = (run: Lookable): number => (run.keeper ?? run.launcher).ticks

/** Nothing of a run is older than its keeper, nor than its launcher, which claims before anything is started. */
export const bornAfter = (run: Lookable): number => Math.max(run.keeper?.ticks ?? 0, run.launcher.ticks)
