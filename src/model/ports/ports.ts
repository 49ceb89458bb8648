import type { ActivityState, NotedActivity } from '../activity.ts'
import type { Notice, Versioned } from '../agent-news.ts'
import type { CgroupBase, CgroupView } from '../containment.ts'
import type { Environment } from '../environment.ts'
import type { Exit } from '../exit.ts'
import type { ProcessRow, ProcessTable, Sample } from '../fact.ts'
import type { Place, ProcessId } from '../identity.ts'
import type { JournalEntry } from '../journal.ts'
import type { Intent, RunRecord } from '../run.ts'
import type { NativeId } from '../session.ts'

/** Everything Holdfast does to the world goes through these narrow doors, so that the world can be simulated. */

export interface Clock {
  now(): number
  /** Milliseconds that only grow; for waiting, never for records. */
  elapsed(): number
  sleep(ms: number): Promise<void>
  /** In [0, 1). */
  random(): number
}

/** `outputAt`: when something was last written to it, give or take some seconds. */
export type Terminal = { readonly path: string; readonly outputAt: number }

export type Signal = 'SIGTERM' | 'SIGCONT' | 'SIGSTOP' | 'SIGKILL' | 'SIGUSR1'
/** `forbidden` is us refusing: a pid below 2, ourselves, or one of our ancestors. */
export type SendAnswer = 'sent' | 'gone' | 'someone-else' | 'denied' | 'forbidden'

export interface Processes {
  here(): Place
  self(): ProcessId
  /** Ourselves and those we were started from, nearest first. */
  origins(): readonly ProcessId[]
  /** Now, in the ticks that processes are born at: no clock that anybody can set. */
  ticks(): number
  sample(pid: number): Sample
  /** One pass over all. What is older than `since` cannot be a member, so its marker is not looked at. */
  table(look: { since: number; cookies: boolean }): ProcessTable
  /** Its environment as it was given; empty if it may not be read. */
  environment(pid: number): Environment
  /** Its command line; empty if it has none, or may not be read. */
  arguments(pid: number): readonly string[]
  /** The file it is an instance of; null: it is gone, or may not be looked at. */
  exe(pid: number): string | null
  /** The marker it carries; null: none of ours; undefined: it cannot be told. */
  marker(pid: number): number | null | undefined
  /** The directory it works in; null: it is gone, or may not be looked at. */
  cwd(pid: number): string | null
  /** Its children now, as far as the kernel tells. */
  children(pid: number): readonly number[]
  /** The files with such a path that it has open for writing; none if it may not be looked at. */
  writes(pid: number, path: RegExp): readonly string[]
  /** Where each of them listens (TCP). Those that do not, or may not be looked at, are left out. */
  ports(pids: readonly number[]): ReadonlyMap<number, readonly number[]>
  /** The time it has computed, and that of the children it has seen end; null: it is gone. */
  cpu(process: ProcessId): { readonly ownMs: number; readonly childrenMs: number } | null
  /** The terminal that it is on; null: none, or it cannot be told. */
  terminal(process: ProcessId): Terminal | null
  /** Is this still the terminal that had the name at that time? The kernel gives names again. False also where it cannot be told. */
  isTerminalSince(path: string, at: number): boolean
  /** Does /proc leave out processes of others? */
  hides(): boolean
  /** Does no process live in it any more? Only the initial pid namespace sees them all. */
  isNamespaceGone(pidNamespace: string): boolean
  /** Processes of other pid namespaces that have this pid there; null: that cannot be told from here. */
  namesakes(pid: number): readonly ProcessRow[] | null
  /** Looks at the identity again, then signals. */
  send(process: ProcessId, signal: Signal): SendAnswer
}

/** What is true of cgroups. */
export interface Cgroups {
  base(): CgroupBase
  view(path: string): CgroupView
  /** What all that ever lived in it has burned; null: not known. */
  cpuMs(path: string): number | null
  /** The innermost cgroup of ours that a process is in, by name; null: none, or it cannot be told. */
  nameOf(pid: number): string | null
  /** The cgroups at a place whose names begin so. */
  list(base: string, stem: string): string[]
}

/** What is done to cgroups. False: it could not. */
export interface Containers {
  /** Null, or why it could not be made. */
  make(path: string): string | null
  admit(path: string, pid: number): boolean
  freeze(path: string): boolean
  thaw(path: string): boolean
  kill(path: string): boolean
  /** Only one that is empty can be removed. */
  remove(path: string): boolean
}

/** What a keeper wrote down. `told` is the signal its own command received, if any. */
export type ExitRecord = { readonly exit: Exit; readonly told: string | null; readonly at: number }

/** The private directory of each run, and what is needed to see and stop it without the store. */
export interface RunRecords {
  /** Makes the private directory and writes what is needed to stop the run without the store. */
  create(run: RunRecord): void
  recordKeeper(run: string, keeper: ProcessId): void
  /** Its session has another id now, and had these before; a full disk is no trouble. */
  recordRebound(run: string, session: string, former: readonly string[]): void
  read(run: string): RunRecord | null
  /** It has a record that we cannot read: of another format, or damaged. */
  isUnreadable(run: string): boolean
  list(): string[]
  /** Changes whenever a run directory comes or goes; null: it came to rest a moment ago, or cannot be told. */
  stamp(now: number): string | null
  /** What of the run directories was last found in the store; null: nothing that holds. */
  seen(): string | null
  /** A full disk is no trouble. */
  recordSeen(text: string): void
  /** A person has said that it is gone, although nobody could prove that. */
  isGone(run: string): boolean
  recordGone(run: string): void
  /** The user that its directory belongs to; null: it is not there. */
  uid(run: string): number | null
  /** Null, or why not all of it could be removed. */
  remove(run: string): string | null
  path(run: string): string
  /** Tells its keeper that its end is on record, so that it can leave. */
  settle(run: string): void
  /** What lies in its directory that only a living keeper needs, or that a writer who died left half written. */
  litter(run: string): readonly string[]
  /** Takes that away: nobody shall meet a pipe among its files. */
  tidy(run: string): void
}

/** What proves how a run lives and how it ended. */
export interface RunEvidence {
  /** Its keeper, as the one that launched it wrote it down. */
  keeper(run: string): ProcessId | null
  harness(run: string): ProcessId | null
  /** For one that we did not start: usually its stub says who it is. */
  recordHarness(run: string, harness: ProcessId): void
  exit(run: string): ExitRecord | null
  /** The status with which the stub failed to become the harness. */
  notStarted(run: string): number | null
  /** Whether the file lies there untouched in which the stub says who it is, right before it becomes the agent. */
  neverBegan(run: string): boolean
  /** The cgroup that the stub has entered, as it wrote it down. */
  cgroup(run: string): string | null
  /** The tmux server that hosts it. */
  server(run: string): ProcessId | null
  recordServer(run: string, server: ProcessId): void
  /** A helper the keeper left for `--timeout`. */
  timer(run: string): ProcessId | null
  /** A helper that waits for the keeper's end, and then has the run finished. */
  guard(run: string): ProcessId | null
  /** Members that were seen earlier, and writing them down; false if that failed. */
  journal(run: string): readonly JournalEntry[]
  recordJournal(run: string, entries: readonly JournalEntry[]): boolean
  /** What lies in the place of its files and is none of ours, such as "its file exit is a FIFO"; null: nothing does. */
  trouble(run: string): string | null
}

/** The tombstone of a run: once it is put, tool calls of its agent are denied. */
export interface Fences {
  /** Puts the tombstone, with who wants what; false if it could not (a full disk). The first one stands. */
  retire(run: string, intent: Intent): boolean
  isRetired(run: string): boolean
  /** What the tombstone says, for an end that the store could not be told. */
  intent(run: string): Intent | null
  path(run: string): string
}

/** What the agent of a run says of itself: its conversations, what it is at, its prompts. */
export interface AgentState {
  /** The native ids that its agent is known to have had, the newest last; and adding one. */
  natives(run: string): readonly NativeId[]
  recordNative(run: string, native: NativeId): void
  /** Conversations that its agent went to, and that are another live session's; and adding one. */
  refused(run: string): readonly NativeId[]
  recordRefused(run: string, native: NativeId): void
  /** What its hooks said last that it is at, and when; null: nothing. */
  activity(run: string): NotedActivity | null
  /** The same again changes nothing; a full disk is no trouble. */
  recordActivity(run: string, state: ActivityState): void
  /** Changes with every prompt that its harness reports: when, by whom, and a mark of its text; null: none was. */
  prompted(run: string): string | null
  recordPrompted(run: string, text: string): void
  /** Whether it was given a prompt in a file. */
  hasPrompt(run: string): boolean
  /** What its agent reads; answers where it lies. */
  recordPrompt(run: string, prompt: Uint8Array): string
}

/** What the agent of a run has spent, as far as it was counted. */
export interface UsageFiles {
  /** What has been counted of what it burns, and writing it down; a full disk is no trouble. */
  counted(run: string): string | null
  recordCounted(run: string, text: string): void
  /** From where its usage is counted, and where its harness keeps things: lines that are only ever added, and of which the first of a kind holds. */
  baseline(run: string): readonly string[]
  recordBaseline(run: string, line: string): void
  /** The files in which something new of its agent shows. */
  recordFollowed(run: string, paths: readonly string[]): void
}

/** What the agent of a run shall be told, and what it was told. */
export interface AgentInbox {
  /** Something that its agent shall be told with its next tool call or prompt; of one topic the newest. A full disk is no trouble. */
  leave(run: string, notice: Notice): void
  /** All that waits to be told: from now on it is the caller's to tell it. */
  take(run: string): readonly Notice[]
  drop(run: string, topic: string): void
  /** What its agent was told of what is around it; and replacing that very version: false if somebody else did, or it cannot be written. */
  told(run: string): Versioned
  recordTold(run: string, seen: number, text: string): boolean
}

/** The output of a detached run. */
export interface RunLogs {
  /** Keeps the log within its cap, in place. */
  cap(run: string): void
  /** The log, or the part before its last capping, from an offset to its present end. */
  read(run: string, part: 'now' | 'before', from: number): Iterable<Uint8Array>
  tail(run: string, lines: number): number
  size(run: string): number
  /** When its output grew last; null: it has none that we keep. */
  outputAt(run: string): number | null
}

/** All that is kept of runs on disk. */
export type RunFiles = {
  readonly runRecords: RunRecords
  readonly evidence: RunEvidence
  readonly fences: Fences
  readonly agentState: AgentState
  readonly usageFiles: UsageFiles
  readonly agentInbox: AgentInbox
  readonly runLogs: RunLogs
}
