import { type Clock, Problem, type Store } from '../../model/index.ts'
import { recordActivity, recordRefused, recordUnwatched } from './activity.ts'
import type { Borrowed } from './connection-pool.ts'
import * as natives from './conversation.ts'
import { recordDaemon } from './events.ts'
import * as feedback from './feedback.ts'
import * as locks from './lock.ts'
import * as messages from './message.ts'
import { BUSY, openDatabase, sqliteCode, storeProblem, TRY_MS } from './open.ts'
import * as outbox from './outbox.ts'
import * as reads from './reads.ts'
import { rebind } from './rebind.ts'
import { recordFound } from './record-nested-agent.ts'
import * as requests from './requests.ts'
import { restore } from './restore.ts'
import { forgetSession, renameSession } from './session-names.ts'
import * as writes from './writes.ts'

export type SqliteOptions = {
  readonly path: string
  readonly clock: Clock
  /** How long opening and reading may wait, as during a migration. */
  readonly patienceMs: number
  /** How long a write may wait for another writer. Readers that record an ending in passing do not wait at all. */
  readonly writePatienceMs: number
  /** Who waits so long is told so, once. */
  readonly waiting?: { readonly afterMs: number; readonly tell: () => void }
  /** How long to wait before the next try. */
  readonly backoff: (attempt: number) => number
}

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path } = options
  const patient = <T>(attempt: () => T, patienceMs = options.patienceMs): Promise<T> => retryWhileBusy(attempt, options, patienceMs)
  const db = await patient(() => openDatabase(path, options.writePatienceMs === 0 ? 0 : TRY_MS))
  const write = <T>(body: () => T, keep: (answer: T) => boolean = always): Promise<T> =>
    patient(() => transaction(db, path, 'IMMEDIATE', body, keep), options.writePatienceMs)
  const read = <T>(body: () => T): Promise<T> => patient(() => transaction(db, path, 'DEFERRED', body, always))
  return {
    claims: {
      claim: (request) =>
        write(
          () => writes.claim(db, request),
          (answer) => answer.kind === 'won',
        ),
      recordRunning: (run, keeper, at) => write(() => writes.recordRunning(db, run, keeper, at)),
      recordAsked: (run, intent, at) => write(() => writes.recordAsked(db, run, intent, at)),
      recordExited: (run, exit, at) => write(() => writes.recordExited(db, run, exit, at)),
      recordSurvivors: (run, survivors, at) => write(() => writes.recordSurvivors(db, run, survivors, at)),
      recordEnded: (run, ending, harness, at) => write(() => writes.recordEnded(db, run, ending, harness, at)),
      recordNested: (task, harness, native) => write(() => recordFound(db, task, harness, native)),
      // Nobody can go on without it: it waits like an opening does, also for a reader.
      restore: (runs, at) => patient(() => transaction(db, path, 'IMMEDIATE', () => restore(db, runs, at), always)),
    },
    runs: {
      get: (id) => read(() => reads.run(db, id)),
      ofSession: (session, limit) => read(() => reads.runs(db, session, limit)),
      children: (run) => read(() => reads.children(db, run)),
      startedIn: (run, limit) => read(() => reads.startedIn(db, run, limit)),
      tasks: (which, session, limit) => read(() => reads.tasks(db, which, session, limit)),
      liveAmong: (runs) => read(() => reads.live(db, runs)),
      endedAmong: (runs) => read(() => reads.ended(db, runs)),
      unrecorded: (runs) => read(() => reads.unrecorded(db, runs)),
      sessions: () => read(() => reads.sessionsOfRuns(db)),
      unkept: () => read(() => reads.unkept(db)),
      live: (limit) => read(() => reads.liveRuns(db, limit)),
      roots: () => read(() => reads.roots(db)),
      withMarker: (marker) => read(() => reads.runWithMarker(db, marker)),
      liveWithMarker: (marker) => read(() => reads.runByMarker(db, marker)),
      spent: (sessions) => read(() => reads.spent(db, sessions)),
    },
    sessions: {
      find: (reference, how) => read(() => reads.find(db, reference, how)),
      snapshot: (which, limit, only) => read(() => reads.snapshot(db, which, limit, only ?? null)),
      rebind: (request) => write(() => rebind(db, request)),
      rename: (request) =>
        write(
          () => renameSession(db, request),
          (answer) => answer.kind === 'renamed',
        ),
      forget: (request) => write(() => forgetSession(db, request)),
      aliases: (session) => read(() => reads.aliases(db, session)),
      formerIds: (session) => read(() => reads.formerIds(db, session)),
    },
    conversations: {
      bind: (run, native, binding, at) => write(() => natives.bindNative(db, run, native, binding, at)),
      meet: (run, owner, native, how, at) => write(() => natives.recordMeeting(db, run, owner, native, how, at)),
      owner: (native) => read(() => reads.nativeOwner(db, native)),
    },
    locks: {
      workplaces: () => read(() => locks.workplaces(db)),
      all: (ancestors, session) => read(() => locks.locks(db, ancestors, session)),
      take: (request) => write(() => locks.lock(db, request)),
      free: (lock, how, at) => write(() => locks.unlock(db, lock, how, at)),
      strays: () => read(() => locks.strayLocks(db)),
    },
    messages: {
      say: (run, kind, saying) => write(() => messages.say(db, run, kind, saying)),
      said: (runs) => read(() => messages.said(db, runs)),
      send: (message) => write(() => messages.send(db, message)),
      inbox: (reader, how, most, at) => (how === 'read' ? write : read)(() => messages.inbox(db, reader, how, most, at)),
      unread: (reader, at) => read(() => messages.unread(db, reader, at)),
      giveBack: (reader, given) => write(() => messages.giveBack(db, reader, given)),
    },
    events: {
      list: (which) => read(() => reads.events(db, which)),
      newest: () => read(() => reads.newestEvent(db)),
      has: (event) => read(() => reads.hasEvent(db, event)),
      recordTold: (run, detail, at) => write(() => natives.recordTold(db, run, detail, at)),
      recordActivity: (run, change, at) => write(() => recordActivity(db, run, change, at)),
      recordRefused: (run, refusal, at) => write(() => recordRefused(db, run, refusal, at)),
      recordUnwatched: (run, spending, at) => write(() => recordUnwatched(db, run, spending, at)),
      recordDaemon: (detail, at) => write(() => recordDaemon(db, detail, at)),
    },
    retention: {
      remains: (limit) => read(() => ({ locks: locks.heldByProcesses(db, limit), ended: reads.endedLast(db, limit), live: reads.allLive(db) })),
      forget: (which) => write(() => writes.forget(db, which)),
      forgettable: (which) => read(() => writes.forgettable(db, which)),
    },
    requests: {
      add: (request) => write(() => requests.add(db, request)),
      get: (id) => read(() => requests.get(db, id)),
      list: (which, limit) => read(() => requests.requests(db, which, limit)),
      ofSource: (source, keys) => read(() => requests.ofSource(db, source, keys)),
      ofRun: (run) => read(() => requests.ofRun(db, run)),
      story: (id, limit) => read(() => requests.story(db, id, limit)),
      newestClaim: () => read(() => requests.newestClaim(db)),
      claim: (claim) => write(() => requests.claim(db, claim)),
      recordPlaced: (holds, placed, at) => write(() => requests.recordPlaced(db, holds, placed, at)),
      recordStarted: (holds, run, at) => write(() => requests.recordStarted(db, holds, run, at)),
      recordResult: (holds, result, at) => write(() => requests.recordResult(db, holds, result, at)),
      recordReleased: (holds, release, at) => write(() => requests.recordReleased(db, holds, release, at)),
      recordPaused: (holds, pause, at) => write(() => requests.recordPaused(db, holds, pause, at)),
      recordDue: (holds, due, at) => write(() => requests.recordDue(db, holds, due, at)),
      recordTrouble: (holds, trouble, dueAt, at) => write(() => requests.recordTrouble(db, holds, trouble, dueAt, at)),
      recordEnded: (holds, ending, at) => write(() => requests.recordEnded(db, holds, ending, at)),
      recordClosing: (id, closing, at) => write(() => requests.recordClosing(db, id, closing, at)),
      forget: (which) => write(() => requests.forget(db, which)),
    },
    outbox: {
      due: (target, now, limit) => read(() => outbox.dueReports(db, target, now, limit)),
      recordHeard: (target, request, seq) => write(() => outbox.recordHeard(db, target, request, seq)),
      recordFailed: (target, request, why, dueAt) => write(() => outbox.recordFailed(db, target, request, why, dueAt)),
      state: (target) => read(() => outbox.outboxState(db, target)),
    },
    feedback: {
      add: (one) => write(() => feedback.addFeedback(db, one)),
      list: (request) => read(() => feedback.feedbackOf(db, request)),
      get: (id) => read(() => feedback.feedback(db, id)),
      begin: (holds, receipt, at) => write(() => feedback.beginFeedback(db, holds, receipt, at)),
      record: (id, event, receipt, at) => write(() => feedback.recordFeedback(db, id, event, receipt, at)),
    },
    isReplaced: () => !db.isStill(),
    tryWrite: () =>
      write(
        () => undefined,
        () => false,
      ),
    close: () => db.close(),
  }
}

const always = (): boolean => true

/** What is written to a file that is no longer the store is nowhere: that is told, before and after. */
function transaction<T>(db: Borrowed, path: string, mode: 'IMMEDIATE' | 'DEFERRED', body: () => T, keep: (answer: T) => boolean): T {
  db.exec(`BEGIN ${mode}`)
  try {
    refuseReplaced(db, path)
    const answer = body()
    db.exec(keep(answer) ? 'COMMIT' : 'ROLLBACK')
    if (mode === 'IMMEDIATE') refuseReplaced(db, path)
    return answer
  } catch (error) {
    try {
      db.exec('ROLLBACK')
    } catch {
      // A full disk or an I/O error has rolled back already; the first error is the one to tell.
    }
    throw error
  }
}

function refuseReplaced(db: Borrowed, path: string): void {
  if (!db.isStill())
    throw new Problem('store-replaced', `the store ${path} was replaced while this command used it`, {
      hint: 'try again; what lives is found in the run directories',
    })
}

async function retryWhileBusy<T>(attempt: () => T, { path, clock, backoff, waiting }: SqliteOptions, patienceMs: number): Promise<T> {
  const began = clock.elapsed()
  const until = began + patienceMs
  let isTold = false
  for (let tries = 0; ; tries++) {
    try {
      return attempt()
    } catch (error) {
      const cause = (error as Error).cause
      const busy = sqliteCode(error) === BUSY || (cause !== undefined && sqliteCode(cause) === BUSY)
      if (!busy || clock.elapsed() >= until) throw sqliteCode(error) === 0 ? error : storeProblem(error, path)
      if (!isTold && waiting !== undefined && clock.elapsed() - began >= waiting.afterMs) {
        isTold = true
        waiting.tell()
      }
      await clock.sleep(backoff(tries))
    }
  }
}
