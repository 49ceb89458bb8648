import { tellingPolicy } from './policy-telling.ts'
import { workPolicy } from './policy-work.ts'

/** Every number that shapes behaviour, named once. */
export const policy = {
  /** Between TERM and KILL, while somebody still uses it. */
  graceMs: 10_000,
  /** The same for what a harness left behind when it ended by itself. */
  leftoverGraceMs: 600,
  /** How long the freeze-and-kill round may go on before its survivors are named. */
  killMs: 5_000,
  killRounds: 200,
  /** A tree of so many that grows by a tenth within so long, or keeps us from looking, is a storm: it is frozen at once and gets no grace. */
  stormSize: 500,
  stormLookMs: 20,
  /** How long a harness may take to end something its own way. */
  askMs: 5_000,
  /** So long after its start a run's timer looks for the id of its agent's conversation; then whoever looks does. */
  captureMs: 60_000,
  /** In one look it waits so long at most before it tries again. */
  captureStepMs: 800,
  /** How long giving a process its marker may take. */
  markMs: 2_000,
  /** A launch must be on record by then. */
  launchMs: 30_000,
  /** How long a starter waits for a run that is just being started or finished by somebody else. */
  settleMs: 10_000,
  /** How long anyone waits for a living keeper to write down an end it has already seen. */
  exitRecordMs: 1_000,
  /** How long `stop` waits for the keeper to leave after its tree did. */
  keeperLeaveMs: 2_000,
  /** How long a start waits for a worktree that another one is making. */
  worktreeMs: 120_000,
  /** How many times a starter clears the way or loses a race before it gives up. */
  claimSteps: 50,
  pollMinMs: 2,
  pollMaxMs: 50,
  /** The store's own patience, with jitter on top; that of a start, since many at once on a small machine all succeed; and when that is told. */
  busyMs: 5_000,
  startBusyMs: 60_000,
  busyTellMs: 3_000,
  busyRetryMinMs: 5,
  busyRetryMaxMs: 120,
  /** So many connections to stores are kept for the next who opens one. */
  storesIdle: 4,
  /** A server shares one view of everything among those who ask at the same time; who asks so long after it was opened gets a new one. */
  worldMs: 5_000,
  /** A log keeps this much twice: the current part and the one before. */
  logCapBytes: 10 * 1024 * 1024,
  /** Files of a run are no larger: those of a line or two, those of many lines, and those that hold a command line or what was counted. */
  evidenceBytes: 16 * 1024,
  runFileBytes: 1024 * 1024,
  runRecordBytes: 16 * 1024 * 1024,
  /** Nor are the daemon's own files, the receipts of hooks, and the configuration. */
  smallFileBytes: 1024 * 1024,
  ...workPolicy,
  /** So much of a log of git is read to learn which commits it names. */
  gitLogBytes: 64 * 1024 * 1024,
  /** Settings of a harness that are larger are not changed. */
  settingsBytes: 1024 * 1024,
  /** Ended runs are kept this long and this many; the worktree of a conversation that can be resumed so long after its last run. */
  retentionMs: 30 * 24 * 3600 * 1000,
  retentionRuns: 10_000,
  worktreeResumableMs: 14 * 24 * 3600 * 1000,
  /** At most this many are removed in one go, so that nobody waits for housekeeping. */
  pruneBatch: 200,
  /** Runs that own runs that own runs: how deep an ending reaches. */
  nestingDepth: 16,
  eventsShown: 1_000,
  sessionsShown: 100_000,
  runsShown: 100,
  /** Of so many sessions that ended last, too, it is asked who looks related. */
  suspectsOf: 30,
  /** One finisher in so many also forgets what is beyond retention. */
  housekeepingOdds: 50,
  followMs: 100,
  /** A start looks at so many locks by hand, ended runs and cgroups at most for what the dead left there. */
  reapAtMost: 32,
  /** So many anchors of a kind (of the dead, unknown, making no sense) are named before the rest is counted. */
  anchorsNamed: 20,
  /** A message has so many bytes at most, waits so long to be read, and so many wait for one reader. */
  messageBytes: 8 * 1024,
  messageMs: 7 * 24 * 3600 * 1000,
  inboxSize: 100,
  /** So much of an inbox is given out at once (one message at least): agents cut longer answers, and what is cut was read. */
  inboxBytes: 8 * 1024,
  /** What a session says of its own work has so many bytes at most. */
  sayingBytes: 2 * 1024,
  /** So many siblings are shown before the rest is counted. */
  siblingsShown: 50,
  /** To an MCP client: a line of so many bytes at most is read, so many events are given out, and so many addresses can be subscribed to. */
  mcpLineBytes: 1024 * 1024,
  /** So many of its requests are under way or wait to be sent their answers; then so many bytes more are taken in, for the end to be seen behind them. */
  mcpRequests: 256,
  mcpHeldBytes: 4 * 1024 * 1024,
  mcpEvents: 100,
  mcpSubscriptions: 64,
  /** While one is, it is looked so often whether there is something new. */
  mcpWatchMs: 500,
  /** A client waits so long at most for a message: less than clients wait for an answer. */
  mcpWaitMs: 50_000,
  /** It is looked so often whether the client is still there; without it, what is under way has so long to come to its end. */
  mcpClientMs: 1_000,
  mcpPartingMs: 1_000,
  /** The daemon looks at everything so often without being woken. */
  daemonPaceMs: 5_000,
  /** A start waits so long for a daemon that is coming up, and so long for one that holds the home but says nothing. */
  daemonStartMs: 10_000,
  daemonSilentMs: 2_500,
  /** Who wants to hold the home waits so long while somebody else only repairs it. */
  daemonLockMs: 2_000,
  /** A living daemon answers within so long, or does not. */
  daemonAnswerMs: 500,
  daemonAnswerBytes: 1024 * 1024,
  /** Long work lets others have their turn so often. */
  breathMs: 50,
  /** A round that takes longer is a failure. */
  daemonRoundMs: 60_000,
  /** A daemon that is told to end waits so long for rounds under way, then so long for each part to close, and for its last word in the store. */
  daemonLeaveMs: 5_000,
  daemonCloseMs: 1_000,
  /** So long after TERM it is killed: it loses nothing by that. */
  daemonStopMs: 10_000,
  /** It looks so often how it does, and at what is its own (folder, lock, socket, record, log); its health is written so often at most. */
  daemonPulseMs: 5_000,
  daemonHealthMs: 2_000,
  /** What did not change is written again so often, so that its age says something. */
  daemonHealthStaleMs: 30_000,
  /** What happens to its folder is looked at so much later: whoever removes it may be at it still. */
  daemonSettleMs: 200,
  /** So many lines wait for a terminal that does not take them, and so long at the end; one that is full is tried again so much later. */
  daemonLinesHeld: 100,
  daemonFlushMs: 200,
  daemonMirrorMs: 100,
  /** So many of its own events are kept. */
  daemonEventsKept: 1_000,
  /** So long it leaves a run to those who are just finishing it, or whose timer is just ending it. */
  daemonPatienceMs: 2_000,
  /** So often it looks where members listen and which conversations agents carry. */
  daemonThoroughMs: 15_000,
  /** So many trees it ends at the same time. */
  daemonEndings: 16,
  /** What changes is looked at so soon after; one run, so often at most; and from so many on, all are. */
  daemonHearMs: 20,
  daemonHearAgainMs: 250,
  daemonHeard: 64,
  /** So often it looks whether it watches what it should, without having heard of anything new. */
  daemonWatchMs: 30_000,
  /** So many files and folders it watches at most; a run that writes its log more often than this between two looks is watched less. */
  daemonWatches: 4_096,
  daemonLogEvents: 50,
  /** So soon after something was written to a log it is looked whether that is over its cap. */
  daemonCapMs: 500,
  /** So long after its start, and then so often, it removes what the dead left. */
  daemonPruneFirstMs: 3 * 60_000,
  daemonPruneMs: 3600_000,
  /** What fails is tried again after a pause that grows from one to the other, with jitter. */
  backoffMinMs: 1_000,
  backoffMaxMs: 5 * 60_000,
  /** Over HTTP: the head of a request comes within so long and all of it within so long, looked at so often; it has so many bytes at most. */
  httpHeadMs: 5_000,
  httpRequestMs: 10_000,
  httpCheckMs: 1_000,
  httpBodyBytes: 1024 * 1024,
  /** So many connections at once, and one on which nothing moves for so long is closed: longer than a client may wait for a message. */
  httpConnections: 128,
  httpIdleMs: 60_000,
  /** Who has the other end of a connection is looked for so often: for a moment, a child that is just being born has it too. */
  speakerLooks: 4,
  /** The store is counted anew for metrics after so long. */
  metricsMs: 3_000,
  /** How long systemctl may take to answer, or to end a daemon that takes its time; how much of its answer is read. */
  managerMs: 10_000,
  managerChangeMs: 25_000,
  managerBytes: 64 * 1024,
  /** tmux answers within so long; so much of a pane's screen and history is looked at or kept. */
  tmuxMs: 5_000,
  /** So long after its end what it said is waited for, if somebody else holds its output open. */
  tmuxSaidMs: 1_000,
  /** What lies in the place of a tmux server and is younger than this may be of one that is just coming up. */
  tmuxComesUpMs: 60_000,
  paneLines: 2_000,
  /** A text that is typed into a pane has so many bytes at most, and waits so long for others that type there. */
  sendBytes: 64 * 1024,
  sendTurnMs: 20_000,
  /** So long a screen may take to show what was typed, to come to rest with it, and a hook to report it. */
  sendShownMs: 4_000,
  sendSettledMs: 1_000,
  sendProvenMs: 4_000,
  /** An agent of which only its output tells is idle after so long a silence; that it is busy again is recorded no sooner after that than so. */
  quietMs: 10_000,
  activityEventMs: 60_000,
  /** The daemon looks so often what agents are at, and whether there is something to tell a person, without being woken. */
  activityPaceMs: 5_000,
  /** That somebody wanted what a holder has (its session, its directory, its conversation) is recorded so often, whoever asks. */
  refusedEventMs: 60_000,
  /** So many events of each of these kinds are kept of one run. */
  activityEventsKept: 1_000,
  ...tellingPolicy,
  /** How many members of a run are remembered, the newest first. */
  journalSize: 500,
  /** Of so many members at most it is asked where they listen. */
  portsAsked: 200,
  /** How many of those that were ended are told and kept as evidence, a line each; those with ports first. */
  endedNamed: 40,
  /** How many members or processes a message names before it counts the rest. */
  namedAtMost: 8,
} as const

export type Policy = { readonly [K in keyof typeof policy]: number }
