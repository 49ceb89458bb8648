export { type Activity, type ActivityChange, type ActivityState, isActivityState, type NotedActivity, type Refusal } from './activity.ts'
export type { Agent, Candidate, Registered } from './agent.ts'
export {
  type Around,
  MESSAGES,
  type News,
  type Notice,
  type Peer,
  type Retirement,
  type Told,
  type Versioned,
  type WaitingMessages,
} from './agent-news.ts'
export type { Anchor, AnchorFile, Anchors, AnchorVerdict, AnchorWord, Flock, ForeignFiles, ToolPidFiles } from './anchor.ts'
export type { Branches, BranchLook } from './branch.ts'
export { bytesOf, textOf } from './bytes.ts'
export { namedSession, namesIn, partsOf, SESSION_ID, saying } from './command-line.ts'
export { CGROUP_PREFIX, type CgroupBase, type CgroupView, type Containment, cgroupName, cgroupStem } from './containment.ts'
export type { DuplicateOwners, NativeClaim } from './conversation-owner.ts'
export {
  DAEMON_PROTOCOL,
  type DaemonAnswer,
  type DaemonFiles,
  type DaemonHealth,
  type DaemonLook,
  type DaemonPresence,
  type DaemonRecord,
  type DaemonStatus,
  type PartHealth,
  PROTOCOL_HEADER,
  type StartedBy,
} from './daemon.ts'
export type { Environment } from './environment.ts'
export type { EventKind, HoldfastEvent } from './event.ts'
export { describeExit, type Exit, exitFromShell, exitFromWaitStatus, signalName } from './exit.ts'
export { exitCode, type ProblemKind, type ProblemTable } from './exit-code.ts'
export {
  describeMember,
  type Fact,
  isDead,
  isFrozen,
  type Member,
  type ProcessRow,
  type ProcessTable,
  type Proof,
  portsFirst,
  type Sample,
  type Served,
  type Spared,
  type Suspect,
  type Tree,
} from './fact.ts'
export {
  type DeliveryWay,
  FEEDBACK_EVENTS,
  FEEDBACK_STATES,
  FEEDBACK_TABLE,
  type Feedback,
  type FeedbackEvent,
  feedbackStatesThatTake,
  type Receipt,
} from './feedback.ts'
export { frontPid } from './front.ts'
export type {
  BegunSince,
  Capture,
  Harness,
  HeadlessSpeech,
  HookEvent,
  HookEvents,
  HookRule,
  LinesRule,
  OnDisk,
  ReadDatabase,
  Registry,
  RegistryEntry,
  Sessions,
  Speech,
  UsageLine,
  UsageRule,
  Words,
} from './harness.ts'
export { type Asking, describeAsking, type HarnessDaemon, type HarnessDaemonRules, type RemoteCall, type ServedSession } from './harness-daemon.ts'
export type { HookChange, HookState } from './hooks.ts'
export {
  INITIAL_PID_NAMESPACE,
  INITIAL_TIME_NAMESPACE,
  isPid,
  isSignallable,
  MS_PER_TICK,
  type Place,
  type ProcessId,
  sameProcess,
} from './identity.ts'
export type { JournalEntry } from './journal.ts'
export type { Directory, HandHolder, Limit, Lock, Relation, Repository, RunHolder, SharedWith } from './lock.ts'
export {
  innermostCookie,
  isHelperMarker,
  isMarker,
  isRunMarker,
  LINEAGE_VARIABLE,
  MARKER_BASE,
  MARKER_SPAN,
  MAX_LINEAGE,
  markerFrom,
} from './marker.ts'
export type { Addressed, Inbox, Message, NewMessage, Said, Saying, SayingKind, Sender, Sent } from './message.ts'
export { nearest } from './nearest.ts'
export type { NestedAgent, NestedLine } from './nested-agent.ts'
export {
  NOTIFY_DEFAULT,
  NOTIFY_KINDS,
  NOTIFY_WAYS,
  type Notification,
  type Notified,
  type Notifiers,
  type NotifyConfig,
  type NotifyHistory,
  type NotifyKind,
  type NotifyWay,
} from './notify.ts'
export type { Pane } from './pane.ts'
export { plain, plainLines, plainParagraph } from './plain.ts'
export { type Policy, policy } from './policy.ts'
export type { Connection, Connections, End } from './ports/connections.ts'
export type { Directories, Mount } from './ports/directories.ts'
export type { Apart, GatedKeeper, Keepers, Launch } from './ports/keepers.ts'
export type { OutboxEntry, OutboxState } from './ports/outbox.ts'
export type { OwnProcess } from './ports/own-process.ts'
export type { HostedKeeper, Namespaces, Panes, PaneTrouble, PaneView, ServerSetup } from './ports/panes.ts'
export type {
  Cgroups,
  Clock,
  Containers,
  ExitRecord,
  Processes,
  RunEvidence,
  RunFiles,
  RunRecords,
  SendAnswer,
  Signal,
  Terminal,
} from './ports/ports.ts'
export type {
  AddAnswer,
  FeedbackAnswer,
  Holds,
  NewFeedback,
  NewRequest,
  Pause,
  Placed,
  Release,
  RequestClaim,
  RequestEnding,
} from './ports/requests.ts'
export type { ForgetAnswer, ForgetRequest, RenameAnswer, RenameRequest } from './ports/session-names.ts'
export type {
  BindAnswer,
  Binding,
  ClaimAnswer,
  ClaimRequest,
  Found,
  LockRequest,
  RebindAnswer,
  RebindRequest,
  RestoredRun,
  Retention,
  RunPlace,
  SeenLocks,
  Snapshot,
  Store,
} from './ports/store.ts'
export { Problem } from './problem.ts'
export { PROBLEM_GROUPS, PROBLEMS, type ProblemId } from './problem-ids.ts'
export {
  type Closing,
  isOpen,
  OPEN_REQUEST_STATES,
  type Publish,
  REQUEST_END_STATES,
  REQUEST_EVENTS,
  REQUEST_PUBLISH_WAYS,
  REQUEST_TABLE,
  type RequestCause,
  type RequestEvent,
  type RequestEventName,
  type RequestReason,
  type RequestState,
  type RequestTrouble,
  requestStatesThatTake,
  type WorkLimits,
  type WorkOrder,
  type WorkRequest,
  type WorkResult,
} from './request.ts'
export {
  BY,
  type Ended,
  type Ending,
  type Intent,
  intentOf,
  isByPerson,
  isLive,
  type LiveRun,
  NOT_STARTED,
  neverBegan,
  type OnRetire,
  type Run,
  type RunBase,
  type RunEnd,
  type Running,
  type RunRecord,
  type Starting,
  type Stopping,
  type Survivor,
  type Until,
  type Usage,
} from './run.ts'
export { lineageOfRun, type RunRoot } from './run-root.ts'
export type { FailureRecord, WatchedRun, WatchLimits, WorkSigns } from './run-watch.ts'
export type { SecretRef, Secrets } from './secret.ts'
export type {
  HomesDaemon,
  Runs,
  ServiceFacts,
  ServiceFile,
  ServiceInstalled,
  ServiceRemoved,
  ServiceSpec,
  ServiceStatus,
  UnitState,
} from './service.ts'
export {
  type Alias,
  ID_GRAMMAR,
  ID_PATTERN,
  isNativeId,
  isSessionId,
  liveRunsOf,
  type NativeId,
  type Session,
  type SessionRecord,
} from './session.ts'
export { signalsIn } from './signals.ts'
export {
  CALL_FAILURES,
  type Called,
  type CallFailure,
  type CallFailureKind,
  type FeedbackReceipt,
  type Source,
  type SourceClaim,
  type SourceFeedback,
  type SourceHealth,
  type SourceHold,
  type SourceItem,
  type SourceReport,
} from './source.ts'
export type { SourceSettings } from './source-settings.ts'
export type { SpareRule } from './spare.ts'
export { END_STATES, type EndState, LIVE_STATES, RUN_EVENTS, RUN_TABLE, type RunEvent, type RunState, statesThatTake } from './states.ts'
export type { Remainder, Uninstalled } from './uninstall.ts'
export { UNWATCHED_AFTER_MS, type UnwatchedSpending, type UnwatchedTime } from './unwatched.ts'
export {
  addTokens,
  type DoubtfulTime,
  dollarsText,
  type FileCursor,
  highestTokens,
  NO_TOKENS,
  type Tokens,
  tokensBeyond,
  totalTokens,
  type UsageCursor,
  type UsageMark,
  type UsageWindow,
} from './usage.ts'
export type { Self, SelfProof } from './who-am-i.ts'
export { LIMIT_POLICIES, WORK_DEFAULT, type WorkConfig } from './work-config.ts'
export {
  PUBLISH_WAYS,
  type TemplateValues,
  type UnusedKey,
  WORKFLOW_DEFAULT,
  WORKFLOW_FILE,
  type Workflow,
  type WorkflowHook,
  type WorkflowLimits,
  type WorkflowSource,
  type Workflows,
  type WorkflowTrust,
} from './workflow.ts'
export {
  BRANCH_PREFIX,
  type DiscardAnswer,
  type HeadLook,
  type MergeAnswer,
  type MergeRequest,
  REMOVED_PREFIX,
  WORKTREE_REASON,
  type WorktreeContent,
  type WorktreeOrigin,
  type WorktreeOrigins,
  type WorktreeRequest,
  type WorktreeSeal,
  type WorktreeState,
  type Worktrees,
} from './worktree.ts'
