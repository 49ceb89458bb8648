import type { EndPorts, EndRunPorts, LookPorts } from '../../act/index.ts'
import type {
  Branches,
  Cgroups,
  Clock,
  Connections,
  Containers,
  Directories,
  Harness,
  HarnessDaemon,
  HarnessDaemonRules,
  Keepers,
  Notifiers,
  NotifyConfig,
  OwnProcess,
  Panes,
  Policy,
  Processes,
  ProcessRow,
  ReadDatabase,
  RunFiles,
  RunRoot,
  Source,
  SourceSettings,
  SpareRule,
  Store,
  ToolPidFiles,
  WorkConfig,
  Workflows,
  WorktreeOrigins,
  Worktrees,
} from '../../model/index.ts'

/** Everything that a use case may touch. `open-world.ts` builds it. */
export type World = RunFiles & {
  readonly home: string
  /** The home of a user who chose none. */
  readonly defaultHome: () => string
  /** The user's own folder. */
  readonly userFolder: () => string
  /** The folder of our own worktrees: each of them is apart from everything around it. */
  readonly worktreesFolder: string
  readonly assets: string
  readonly env: NodeJS.ProcessEnv
  readonly policy: Policy
  readonly clock: Clock
  readonly processes: Processes
  readonly directories: Directories
  readonly connections: Connections
  readonly own: OwnProcess
  readonly keepers: Keepers
  readonly panes: Panes
  readonly cgroups: Cgroups
  readonly containers: Containers
  readonly spares: () => readonly SpareRule[]
  /** The agents that we know how to talk to. */
  readonly harnesses: () => readonly Harness[]
  /** Those of them that config.toml describes. */
  readonly ownHarnesses: () => readonly Harness[]
  /** Files that other tools keep for each of their processes, as config.toml describes them. */
  readonly toolPidFiles: () => readonly ToolPidFiles[]
  readonly readDatabase: ReadDatabase
  /** Where config.toml wants the daemon on loopback; null: anywhere. */
  readonly daemonPort: () => number | null
  /** Where config.toml lies; null: there is none. */
  readonly configFile: () => string | null
  /** What is wrong with config.toml, if it was needed and makes no sense. */
  readonly configTrouble: () => string | null
  /** Why the file `install` of the home cannot be used, although its runs know what stood there; null: it can. */
  readonly homeTrouble: string | null
  /** How people are told of what happens, and how they want to be. */
  readonly notifiers: Notifiers
  readonly notify: () => NotifyConfig
  readonly harnessDaemons: (rows: readonly ProcessRow[]) => readonly HarnessDaemon[]
  readonly harnessDaemonRules: HarnessDaemonRules
  readonly ask: Keepers['ask']
  readonly tokensOfRun: LookPorts['tokensOfRun']
  readonly exitsZeroAfter: LookPorts['exitsZeroAfter']
  readonly nestedAgents: EndPorts['nestedAgents']
  readonly recordNestedAgents: EndRunPorts['recordNestedAgents']
  readonly learnAtEnd: EndRunPorts['learnAtEnd']
  readonly worktrees: Worktrees
  readonly worktreeOrigins: WorktreeOrigins
  readonly branches: Branches
  readonly workflows: Workflows
  /** How requests are worked on, and where they come from, as config.toml says. */
  readonly work: () => WorkConfig
  readonly sources: () => readonly SourceSettings[]
  readonly source: (settings: SourceSettings) => Source
  readonly host: string
  /** Lazily, so that it costs nothing: `user@host`. */
  readonly user: () => string
  /** Opened at first use. `reader` never waits for another writer. */
  readonly store: (as: 'writer' | 'reader') => Promise<Store>
  /** Run directories that no row knows and that cannot be read, by id; known since the store was opened. */
  readonly unreadable: () => readonly string[]
  readonly ownDaemon: LookPorts['ownDaemon']
  readonly liveRoots: () => Promise<readonly RunRoot[]>
  readonly close: () => void
  /** Set where we work for somebody who did not start us. */
  readonly actingFor?: ActingFor
}

/** `unknown`: why it cannot be told who that is; nothing is done for such a one. */
export type ActingFor = { readonly unknown: string | null; readonly umask: number | null }
