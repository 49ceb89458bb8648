import type { Exit } from '../exit.ts'
import type { ProcessId } from '../identity.ts'
import type { Directory, Lock, SharedWith } from '../lock.ts'
import type { Message, NewMessage, Said, Saying, SayingKind, Sent } from '../message.ts'
import type { Ended, Ending, Intent, LiveRun, Run, RunBase, RunRecord, Survivor } from '../run.ts'
import type { RunRoot } from '../run-root.ts'
import type { Alias, NativeId, Session, SessionRecord } from '../session.ts'
import type { Tokens } from '../usage.ts'
import type { EventStore } from './events.ts'
import type { OutboxStore } from './outbox.ts'
import type { FeedbackStore, RequestStore } from './requests.ts'
import type { ForgetAnswer, ForgetRequest, RenameAnswer, RenameRequest } from './session-names.ts'

export type ClaimRequest = {
  readonly run: RunBase
  readonly keeper: ProcessId | null
  readonly name: string | null
  readonly directory: Directory
  /** The epoch the decision was made on; 0 for a session nobody has seen. */
  readonly seenEpoch: number
  /** The newest lock when it was looked who holds the directory: what came since is looked at in the claim itself. */
  readonly seenLock: number
  /** Beside whom on purpose (--share); null: beside nobody. */
  readonly share: readonly SharedWith[] | null
  readonly reason: string
  /** What kind of agent it is, and the conversation that it carries for certain; null: not known (yet). */
  readonly harness: string | null
  readonly native: string | null
  /** The runs this one was started from, nearest first: their directory is delegated, not refused. */
  readonly ancestors: readonly string[]
}
export type ClaimAnswer =
  | { readonly kind: 'won'; readonly epoch: number }
  | { readonly kind: 'lost'; readonly why: 'epoch' | 'live' | 'directory' | 'parent' | 'name' | 'adopted' | 'native' }

/** Who says so; and, from one who only looked, what was on record then. */
export type Binding = {
  readonly how: string
  readonly before?: string | null
  /** A live run that has this conversation on record, and is proven to have left it. */
  readonly left?: string
}

/**
 * `taken`: another live run carries that conversation. `lost`: the run is no longer its session's owner. `moved`: the sessions that have
 * another id by it; left out: none.
 */
export type BindAnswer =
  | { readonly kind: 'bound'; readonly changed: boolean; readonly moved?: readonly string[] }
  | { readonly kind: 'taken'; readonly by: Run }
  | { readonly kind: 'lost' }

/** A session's row moves to another id. `session` and `epoch`: as they were looked at. `native`: the conversation that this id also is, if it is one. */
export type RebindRequest = {
  readonly session: string
  readonly epoch: number
  readonly to: string
  readonly native: NativeId | null
  readonly how: string
  readonly at: number
}
/**
 * `aside`: the new id of a session that is over and had this one. `moved`: all that have another id by it, that one first. `taken`: that of another
 * live session. `lost`: it is no longer as it was looked at.
 */
export type RebindAnswer =
  | { readonly kind: 'bound'; readonly changed: boolean; readonly aside: string | null; readonly moved: readonly string[] }
  | { readonly kind: 'taken'; readonly by: SessionRecord }
  | { readonly kind: 'lost' }

/** A lock by hand. `kin`: the runs around the caller, nearest first. */
export type LockRequest = Omit<Lock, 'seq'> & { readonly seenLock: number; readonly kin: readonly string[] }

/** All locks, and of which runs those are that the caller is no stranger to: its ancestors, its session's tasks, and theirs. */
export type SeenLocks = { readonly locks: readonly Lock[]; readonly newest: number; readonly kin: ReadonlySet<string> }

/** A run as its directory tells it, for a store that was lost or is older. */
export type RestoredRun = { readonly record: RunRecord; readonly directory: Directory | null; readonly native: NativeId | null }

/** Where a run works: the directory that it holds; null: it lives and holds none. */
export type RunPlace = { readonly run: string; readonly held: Directory | null }

export type Snapshot = {
  readonly views: readonly SessionRecord[]
  readonly locks: readonly Lock[]
  /** Runs whose rows make no sense, by id. */
  readonly unreadable: readonly string[]
}

export type Remains = { readonly locks: readonly Lock[]; readonly ended: readonly string[]; readonly live: ReadonlySet<string> }

/** `only`: of these runs, and no others. */
export type Retention = { readonly endedBefore: number; readonly keep: number; readonly limit: number; readonly only?: readonly string[] }

/** The protocol of a run: each write is one conditional statement that carries the epoch. */
export interface ClaimStore {
  claim(request: ClaimRequest): Promise<ClaimAnswer>
  recordRunning(run: RunBase, keeper: ProcessId, at: number): Promise<boolean>
  recordAsked(run: RunBase, intent: Intent, at: number): Promise<boolean>
  recordExited(run: RunBase, exit: Exit | null, at: number): Promise<boolean>
  recordSurvivors(run: RunBase, survivors: readonly Survivor[], at: number): Promise<boolean>
  /** Conditional on the run being as it was looked at: same state, same keeper. */
  recordEnded(run: LiveRun, ending: Ending, harness: ProcessId | null, at: number): Promise<boolean>
  /** An agent that ended inside a run, as a task of it that is over: nobody had put it on record before. */
  recordNested(task: Ended, harness: string, native: string | null): Promise<boolean>
  /** Puts runs on record that only their directories remember; each is live until it is judged. */
  restore(runs: readonly RestoredRun[], at: number): Promise<void>
}

/** Runs, live and over. */
export interface RunStore {
  get(id: string): Promise<Run | null>
  ofSession(session: string, limit: number): Promise<Run[]>
  /** The live runs that end with it. */
  children(run: string): Promise<LiveRun[]>
  /** All that were ever started in it, newest first. */
  startedIn(run: string, limit: number): Promise<Run[]>
  /** Tasks that are live, or all; of one session, or (null) of any. */
  tasks(which: 'live' | 'all', session: string | null, limit: number): Promise<Run[]>
  /** Of these ids, those of live runs. */
  liveAmong(runs: readonly string[]): Promise<ReadonlySet<string>>
  /** Of these ids, those that are on record and not live. */
  endedAmong(runs: readonly string[]): Promise<{ id: string; newest: boolean }[]>
  /** Of these ids, those that are not on record. */
  unrecorded(runs: readonly string[]): Promise<string[]>
  /** The session of every run on record. */
  sessions(): Promise<ReadonlyMap<string, string>>
  /** Live runs that have no keeper on record, and were not adopted. */
  unkept(): Promise<LiveRun[]>
  /** The live runs and their sessions alone: for those who look at them again and again. */
  live(limit: number): Promise<Omit<Snapshot, 'locks'>>
  /** All live runs, by what each can prove from its own side. */
  roots(): Promise<readonly RunRoot[]>
  /** The run with this marker, live or over. */
  withMarker(marker: number): Promise<Run | null>
  /** The live run with this marker. */
  liveWithMarker(marker: number): Promise<LiveRun | null>
  /** Tokens of the ended runs, by session. Sessions without a count are left out. */
  spent(sessions: readonly string[]): Promise<ReadonlyMap<string, Tokens>>
}

/** Sessions, by any id that they ever had. */
export interface SessionStore {
  /** By id or alias; with `prefix` also by the beginning of an id, if only one session has it. */
  find(reference: string, how: 'exact' | 'prefix'): Promise<Found>
  /** One consistent read of everything live, or of everything. `only`: of these runs, and no others. */
  snapshot(which: 'live' | 'all', limit: number, only?: readonly string[]): Promise<Snapshot>
  /** The row, its runs, locks, events and messages move to the new id, in one transaction; the old id stays as an alias. */
  rebind(request: RebindRequest): Promise<RebindAnswer>
  rename(request: RenameRequest): Promise<RenameAnswer>
  forget(request: ForgetRequest): Promise<ForgetAnswer>
  /** Everything but its id that finds it. */
  aliases(session: string): Promise<Alias[]>
  /** What a session was called before. */
  formerIds(session: string): Promise<string[]>
}

/** Which conversation of its harness a session carries. */
export interface ConversationStore {
  /** The run's agent is known to carry this conversation now. */
  bind(run: RunBase, native: NativeId, binding: Binding, at: number): Promise<BindAnswer>
  /** An agent somewhere inside the run writes a conversation that is the owner's: both learn of it, once. */
  meet(run: RunBase, owner: RunBase, native: NativeId, how: string, at: number): Promise<void>
  /** The session that a conversation is on record for. */
  owner(native: NativeId): Promise<SessionRecord | null>
}

/** Held directories. */
export interface LockStore {
  /** Where live runs work and what runs hold, in few columns: cheap also with many of them. */
  workplaces(): Promise<readonly RunPlace[]>
  /** All locks; `ancestors` and `session` say whose caller it is. */
  all(ancestors: readonly string[], session: string | null): Promise<SeenLocks>
  /** Takes a lock by hand; null: somebody was first, look again. */
  take(request: LockRequest): Promise<number | null>
  /** Takes away that very lock. `how` is recorded where a session knows of it. */
  free(lock: Lock, how: { readonly by: string; readonly reason: string } | null, at: number): Promise<boolean>
  /** Locks that no live run on record has. */
  strays(): Promise<Lock[]>
}

/** What sessions tell each other. */
export interface MessageStore {
  /** What a run says of its own work; the newest of a kind stands. False: it is not its session's live owner any more. */
  say(run: RunBase, kind: SayingKind, saying: Saying): Promise<boolean>
  /** What these runs said, by run; those that said nothing are left out. */
  said(runs: readonly string[]): Promise<ReadonlyMap<string, Said>>
  send(message: NewMessage): Promise<Sent>
  /** Unread and not expired, the oldest first, one at least. `read`: from now on it is nobody's any more. */
  inbox(reader: string, how: 'read' | 'peek', most: { readonly count: number; readonly bytes: number }, at: number): Promise<Message[]>
  unread(reader: string, at: number): Promise<number>
  /** What its reader was given and could not take waits again, under its own number. */
  giveBack(reader: string, messages: readonly Message[]): Promise<void>
}

/** What may be forgotten. */
export interface RetentionStore {
  /** Where the dead may have left something: locks by hand that processes hold and the runs that ended last, so many of each; and all that are live. */
  remains(limit: number): Promise<Remains>
  /** Forgets ended runs beyond retention (never the newest of a session that is kept); answers their ids. */
  forget(which: Retention): Promise<string[]>
  /** Those that `forget` would forget. */
  forgettable(which: Retention): Promise<string[]>
}

/** What is remembered, by capability. Every change is one conditional statement; `false` means that another writer was first. */
export interface Store {
  readonly claims: ClaimStore
  readonly runs: RunStore
  readonly sessions: SessionStore
  readonly conversations: ConversationStore
  readonly locks: LockStore
  readonly messages: MessageStore
  readonly events: EventStore
  readonly retention: RetentionStore
  readonly requests: RequestStore
  readonly feedback: FeedbackStore
  readonly outbox: OutboxStore
  /** Another file lies in its place by now: what this one says counts no more. */
  isReplaced(): boolean
  /** Could something be recorded now? Records nothing; throws the Problem that whoever records would have. */
  tryWrite(): Promise<void>
  close(): void
}

export type Found =
  | { readonly kind: 'found'; readonly view: SessionRecord }
  | { readonly kind: 'ambiguous'; readonly sessions: readonly Session[] }
  | { readonly kind: 'none' }
