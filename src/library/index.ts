import { fileURLToPath } from 'node:url'
import type {
  AdoptRequest,
  Change,
  HandRequest,
  InboxRequest,
  Litter,
  MessageRequest,
  Rebound,
  SeenTree,
  Sent,
  SentMessage,
  Siblings,
  SiblingsRequest,
  Started,
  StartRequest,
  Stopped,
  StopRequest,
  TaskRequest,
  Unlocked,
} from '../app/index.ts'
import {
  adopt,
  checkLock,
  examine,
  lockByHand,
  openWorld,
  prune,
  readInbox,
  rebind,
  reconcile,
  resolveGone,
  say,
  seeAll,
  seeEvents,
  seeLocks,
  seeOne,
  seeTree,
  send,
  sendMessage,
  siblings,
  start,
  startTask,
  stop,
  unlockByHand,
  unmanagedAgents,
  waitForEnd,
  whoAmI,
} from '../app/index.ts'
import type { HoldfastEvent, Inbox, Lock, Message, Run, SayingKind } from '../model/index.ts'
import type { CheckView, Finding, LockView, SessionView, UnmanagedView, WhoView } from '../show/index.ts'
import { type Work, workIn } from './work.ts'

export type { FinishRequest, WorkAddition } from '../app/index.ts'
export type { Ended, Exit, Feedback, RequestEvent, Run, RunState, Session, WorkRequest } from '../model/index.ts'
export { Problem, type ProblemId } from '../model/index.ts'
export type { CancelledView, ExplainedView, FinishedView, RequestStory, RequestView } from '../show/index.ts'
export type {
  Change,
  CheckView,
  Finding,
  HandRequest,
  HoldfastEvent,
  Inbox,
  InboxRequest,
  Litter,
  Lock,
  LockView,
  Message,
  MessageRequest,
  Rebound,
  SeenTree,
  Sent,
  SentMessage,
  SessionView,
  Siblings,
  SiblingsRequest,
  Started,
  StartRequest,
  Stopped,
  StopRequest,
  TaskRequest,
  Unlocked,
  UnmanagedView,
  WhoView,
  Work,
}

/** The use cases of the command line, for other tools. Runs started from here are always detached, or (`tmux: true`) in a pane. */
export type Holdfast = {
  start(request: Omit<StartRequest, 'detach' | 'onLive'> & { onLive?: StartRequest['onLive'] }): Promise<Started>
  /** Takes in an agent that runs already, with its tree. */
  adopt(request: AdoptRequest): Promise<Started>
  /** Types one block into a session that was started with `tmux: true`, and says whether it was taken. */
  send(reference: string, text: string): Promise<Sent>
  stop(request: StopRequest): Promise<Stopped[]>
  status(reference: string): Promise<SessionView>
  list(which?: 'live' | 'all'): Promise<SessionView[]>
  /** Agents at work that Holdfast did not start. */
  unmanaged(): Promise<readonly UnmanagedView[]>
  locks(): Promise<LockView[]>
  /** May this program work there? Cheap: nobody's processes are looked at where nobody is in the way. */
  checkLock(dir: string): Promise<CheckView>
  /** Held by this very program, unless another process or a time is named. */
  lock(request: HandRequest): Promise<Lock>
  /** Force takes away what is somebody else's, and names it. */
  unlock(dir: string, force?: boolean): Promise<Unlocked[]>
  events(reference: string | null, after?: number): Promise<HoldfastEvent[]>
  /** Which session this program is in, and what proves it. */
  whoAmI(): Promise<WhoView>
  /** Every other live session, at the moment of asking. */
  siblings(request?: Partial<SiblingsRequest>): Promise<Siblings>
  /** Its true id is another one; what it was called still finds it. */
  rebind(reference: string, to: string): Promise<Rebound>
  message(request: MessageRequest): Promise<SentMessage>
  /** Of the session that this program is in, unless another one is only peeked at. */
  inbox(request?: Partial<InboxRequest>): Promise<Inbox>
  /** What the session around this program is about to do, or what came of it. */
  report(kind: SayingKind, text: string): Promise<void>
  /** Null: the time was over first. */
  wait(reference: string, timeoutMs?: number): ReturnType<typeof waitForEnd>
  reconcile(): Promise<Change[]>
  /** A background run of the session around this process. */
  startTask(request: TaskRequest): Promise<Started>
  tree(reference: string, suspects?: boolean): Promise<SeenTree>
  prune(dryRun?: boolean): Promise<Litter[]>
  /** Testimony that what cannot be proven gone is gone. */
  resolveGone(reference: string): Promise<Run>
  examine(): Promise<Finding[]>
  /** Requests for agents. A worker (`holdfast worker run`, or the daemon) sees to them. */
  readonly work: Work
  close(): void
}

export function openHoldfast(options: { home?: string; env?: NodeJS.ProcessEnv } = {}): Holdfast {
  const world = openWorld({ assets: fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, ''), ...options })
  return {
    start: (request) => start(world, { onLive: 'refuse', ...request, detach: true }),
    adopt: (request) => adopt(world, request),
    send: (reference, text) => send(world, reference, text),
    stop: (request) => stop(world, request),
    status: (reference) => seeOne(world, reference),
    list: async (which = 'live') => (await seeAll(world, which)).sights,
    unmanaged: () => unmanagedAgents(world),
    locks: () => seeLocks(world),
    checkLock: (dir) => checkLock(world, dir),
    lock: (request) => lockByHand(world, request, () => world.processes.self()),
    unlock: (dir, force = false) => unlockByHand(world, dir, force),
    events: (reference, after = 0) => seeEvents(world, reference, after),
    whoAmI: () => whoAmI(world),
    siblings: (request = {}) => siblings(world, { here: false, ...request }),
    rebind: (reference, to) => rebind(world, reference, to, `${world.user()}@${world.host}`),
    message: (request) => sendMessage(world, request),
    inbox: (request = {}) => readInbox(world, { peek: false, waitMs: null, ...request }),
    report: async (kind, text) => void (await say(world, kind, text)),
    wait: (reference, timeoutMs) => waitForEnd(world, reference, timeoutMs ?? null),
    reconcile: () => reconcile(world),
    startTask: (request) => startTask(world, request),
    tree: (reference, suspects = false) => seeTree(world, reference, suspects),
    prune: (dryRun = false) => prune(world, dryRun),
    resolveGone: (reference) => resolveGone(world, reference),
    examine: () => examine(world),
    work: workIn(world),
    close: () => world.close(),
  }
}

/** Names of an earlier release. */
export type { CheckView as CheckSight, LockView as LockSight, SessionView as Sight, UnmanagedView as UnmanagedSight, WhoView as WhoSight }
