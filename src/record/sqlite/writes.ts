import type {
  ClaimAnswer,
  ClaimRequest,
  Ending,
  Exit,
  Intent,
  LiveRun,
  ProcessId,
  Retention,
  RunBase,
  RunEvent,
  SharedWith,
  Survivor,
} from '../../model/index.ts'
import { statesThatTake } from '../../model/index.ts'
import type { Database, SqlValue } from '../driver.ts'
import { ownerOf, takeNative } from './conversation.ts'
import { recordEvent } from './events.ts'
import { hasNewcomer, insertLock, lockKnowsKeeper, releaseOf, runLock } from './lock.ts'
import { LIVE, runColumns, toRun } from './rows.ts'

/** Each function is the body of one IMMEDIATE transaction. The conditions come from the model's table. */

const list = (states: readonly string[]): string => states.map((state) => `'${state}'`).join(', ')
const takes = (event: RunEvent): string => list(statesThatTake(event))
const json = (value: unknown): string => JSON.stringify(value)

export function claim(db: Database, request: ClaimRequest): ClaimAnswer {
  const { run, keeper, name, directory, seenEpoch, seenLock, share, reason, ancestors } = request
  if (seenEpoch === 0) {
    // Nobody had it when we looked; if it is an alias by now, it is found under its new id.
    if (db.prepare(`SELECT 1 FROM alias WHERE alias = ?1 AND session <> ?1`).get(run.session) !== undefined) return { kind: 'lost', why: 'epoch' }
    db.prepare(`INSERT INTO session (id, name, epoch, dir, argv, created_at) VALUES (?, NULL, 0, ?, ?, ?) ON CONFLICT DO NOTHING`).run(
      run.session,
      run.dir,
      json(run.argv),
      run.startedAt,
    )
  }
  if (run.adopted && isAdopted(db, run)) return { kind: 'lost', why: 'adopted' }
  const live = db.prepare(`SELECT 1 FROM run WHERE session = ? AND state IN (${LIVE})`).get(run.session)
  if (live !== undefined) return { kind: 'lost', why: 'live' }
  const epoch = seenEpoch + 1
  const taken = db
    .prepare(`UPDATE session SET epoch = ?, dir = ?, argv = ?, harness = ?, native = NULL WHERE id = ? AND epoch = ?`)
    .run(epoch, run.dir, json(run.argv), request.harness, run.session, seenEpoch)
  if (Number(taken.changes) === 0) return { kind: 'lost', why: 'epoch' }
  if (run.parent !== null && !run.independent) {
    const parent = db.prepare(`SELECT 1 FROM run WHERE id = ? AND state IN ('starting', 'running')`).get(run.parent)
    if (parent === undefined) return { kind: 'lost', why: 'parent' }
  }
  if (hasNewcomer(db, directory, seenLock, ancestors, run.session)) return { kind: 'lost', why: 'directory' }
  if (name !== null && !takeName(db, run.session, name)) return { kind: 'lost', why: 'name' }
  if (!takeConversation(db, request)) return { kind: 'lost', why: 'native' }
  insertRun(db, { ...run, epoch }, keeper === null && !run.adopted ? 'starting' : 'running', keeper)
  insertLock(db, runLock(run, keeper, directory, reason, share ?? []))
  recordEvent(db, { ...run, epoch }, 'claimed', { pid: run.launcher.pid, dir: run.dir, argv: run.argv[0] ?? '' }, run.startedAt)
  if (keeper !== null) recordEvent(db, { ...run, epoch }, 'running', { keeper: keeper.pid }, run.startedAt)
  recordSharing(db, { ...run, epoch }, share ?? [])
  adopt(db, { ...run, epoch })
  return { kind: 'won', epoch }
}

/** Where it is certain which conversation it carries; false: another live run does. */
function takeConversation(db: Database, { run, harness, native }: ClaimRequest): boolean {
  if (harness === null || native === null) return true
  const id = { harness, id: native }
  if (ownerOf(db, id, run.session) !== null) return false
  takeNative(db, run.session, id, run.startedAt)
  return true
}

/** One process is one run's. */
const isAdopted = (db: Database, { launcher, place }: RunBase): boolean =>
  db.prepare(`SELECT 1 FROM run WHERE adopted = 1 AND state IN (${LIVE}) AND launcher = ? AND place = ?`).get(json(launcher), json(place)) !==
  undefined

/** Both learn of it: who came, and beside whom. */
function recordSharing(db: Database, run: RunBase, share: readonly SharedWith[]): void {
  for (const { session, run: holder, dir } of share) {
    recordEvent(db, run, 'shared', { dir: run.dir, with: session, theirs: dir }, run.startedAt)
    const row = holder === null ? undefined : db.prepare(`SELECT ${runColumns('r')} FROM run r WHERE id = ?`).get(holder)
    if (row !== undefined) recordEvent(db, toRun(row), 'shared', { dir, with: run.session, theirs: run.dir }, run.startedAt)
  }
}

/** Tasks that were to survive a takeover get the new run as their parent, in the very transaction that makes it the owner. */
function adopt(db: Database, run: RunBase): void {
  const tasks = db
    .prepare(ADOPTEES)
    .all(run.session)
    .map((row) => toRun(db.prepare(`SELECT ${runColumns('r')} FROM run r WHERE id = ?`).get(String(row['id'])) ?? {}))
  for (const task of tasks) {
    db.prepare(`UPDATE run SET parent = ? WHERE id = ? AND epoch = ?`).run(run.id, task.id, task.epoch)
    recordEvent(db, task, 'adopted', { by: run.id, session: run.session, from: task.parent }, run.startedAt)
  }
}

/** Answers whether it is new. */
export function insertRun(db: Database, run: RunBase, state: 'starting' | 'running', keeper: ProcessId | null): boolean {
  const row: Record<string, SqlValue> = {
    id: run.id,
    session: run.session,
    epoch: run.epoch,
    state,
    place: json(run.place),
    launcher: json(run.launcher),
    keeper: keeper && json({ pid: keeper.pid, ticks: keeper.ticks }),
    marker: run.marker,
    cookie: run.cookie,
    argv: json(run.argv),
    dir: run.dir,
    detached: run.detached ? 1 : 0,
    until: run.until,
    deadline_at: run.deadlineAt,
    parent: run.parent,
    independent: run.independent ? 1 : 0,
    containment: json(run.containment),
    task: run.task,
    adopted: run.adopted ? 1 : 0,
    budget: run.budget,
    budget_cost: run.budgetCost,
    tmux: run.tmux && json(run.tmux),
    host: run.host,
    user: run.user,
    tty: run.tty,
    started_at: run.startedAt,
  }
  const names = Object.keys(row)
  const sql = `INSERT INTO run (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`
  return changed(db.prepare(sql).run(...Object.values(row)))
}

/** The live tasks that the next run of a session adopts. */
const ADOPTEES = `SELECT id FROM run WHERE task = 'adopt' AND state IN (${LIVE}) AND parent IN (SELECT id FROM run WHERE session = ? AND state = 'superseded')`

function takeName(db: Database, session: string, name: string): boolean {
  const other = db.prepare(`SELECT id FROM session WHERE id = ? UNION SELECT session FROM alias WHERE alias = ?`).get(name, name)
  if (other !== undefined && other['id'] !== session) return false
  db.prepare(`INSERT INTO alias (alias, session) VALUES (?, ?) ON CONFLICT DO NOTHING`).run(name, session)
  db.prepare(`UPDATE session SET name = ? WHERE id = ?`).run(name, session)
  return true
}

export function recordRunning(db: Database, run: RunBase, keeper: ProcessId, at: number): boolean {
  const won = changed(
    db
      .prepare(`UPDATE run SET state = 'running', keeper = ? WHERE id = ? AND epoch = ? AND state IN (${takes('recorded')})`)
      .run(json({ pid: keeper.pid, ticks: keeper.ticks }), run.id, run.epoch),
  )
  if (!won) return false
  lockKnowsKeeper(db, run.id, { pid: keeper.pid, ticks: keeper.ticks })
  recordEvent(db, run, 'running', { keeper: keeper.pid }, at)
  return true
}

/** The first intent stands: a later one changes nothing but is answered as taken, since the run ends either way. */
export function recordAsked(db: Database, run: RunBase, intent: Intent, at: number): boolean {
  const won = changed(
    db
      .prepare(`UPDATE run SET state = 'stopping', intent = ? WHERE id = ? AND epoch = ? AND state IN (${takes('asked')}) AND intent IS NULL`)
      .run(json(intent), run.id, run.epoch),
  )
  if (won) recordEvent(db, run, 'asked', { ...intent }, at)
  return won || db.prepare(`SELECT 1 FROM run WHERE id = ? AND epoch = ? AND state = 'stopping'`).get(run.id, run.epoch) !== undefined
}

export function recordExited(db: Database, run: RunBase, exit: Exit | null, at: number): boolean {
  const won = changed(
    db
      .prepare(
        `UPDATE run SET state = 'stopping', exit = coalesce(exit, ?1) WHERE id = ?2 AND epoch = ?3 AND state IN (${takes('exited')})
         AND (state <> 'stopping' OR (exit IS NULL AND ?1 IS NOT NULL))`,
      )
      .run(exit && json(exit), run.id, run.epoch),
  )
  if (won) recordEvent(db, run, 'exited', { exit }, at)
  return won
}

/** That the same ones are still there is no news, however often somebody tries. */
export function recordSurvivors(db: Database, run: RunBase, survivors: readonly Survivor[], at: number): boolean {
  const won = changed(
    db
      .prepare(
        `UPDATE run SET state = 'stopping', survivors = ?1 WHERE id = ?2 AND epoch = ?3 AND state IN (${takes('asked')})
         AND (state <> 'stopping' OR survivors IS NOT ?1)`,
      )
      .run(json(survivors.toSorted((a, b) => a.pid - b.pid)), run.id, run.epoch),
  )
  if (won) recordEvent(db, run, 'survivors', { survivors }, at)
  return won
}

/** Only the run that was looked at: one that went on meanwhile (a keeper on record, somebody asked) is another story. */
export function recordEnded(db: Database, run: LiveRun, ending: Ending, harness: ProcessId | null, at: number): boolean {
  if (!statesThatTake(ending.state).includes(run.state)) return false
  const won = changed(
    db
      .prepare(
        `UPDATE run SET state = ?, exit = ?, reason = ?, evidence = ?, ended_by = ?, harness = ?, ended_at = ?, survivors = NULL, usage = ?
         WHERE id = ? AND epoch = ? AND state = ? AND keeper IS ?`,
      )
      .run(
        ending.state,
        ending.exit && json(ending.exit),
        ending.reason,
        json(ending.evidence),
        ending.by,
        harness && json(harness),
        at,
        ending.usage ? json(ending.usage) : null,
        run.id,
        run.epoch,
        run.state,
        run.keeper && json({ pid: run.keeper.pid, ticks: run.keeper.ticks }),
      ),
  )
  if (!won) return false
  releaseOf(db, run.id)
  recordEvent(db, run, 'ended', { state: ending.state, exit: ending.exit, reason: ending.reason, by: ending.by, pid: harness?.pid ?? null }, at)
  return true
}

/** Ended runs beyond the age or the number; session rows stay, so that an epoch never begins anew. */
export function forget(db: Database, which: Retention): string[] {
  const { only } = which
  const ids = forgettable(db, which).filter((id) => only === undefined || only.includes(id))
  for (const id of ids) {
    // By its session, which is what events are found by.
    db.prepare(`DELETE FROM event WHERE session = (SELECT session FROM run WHERE id = ?1) AND run = ?1`).run(id)
    db.prepare(`DELETE FROM said WHERE run = ?`).run(id)
    db.prepare(`DELETE FROM run WHERE id = ? AND ended_at IS NOT NULL`).run(id)
  }
  return ids
}

export const forgettable = (db: Database, which: Retention): string[] =>
  db
    .prepare(
      `SELECT id FROM run WHERE ended_at IS NOT NULL AND id NOT IN (SELECT run FROM lock WHERE run IS NOT NULL) AND (ended_at < ? OR id IN
       (SELECT id FROM run WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT -1 OFFSET ?)) ORDER BY ended_at LIMIT ?`,
    )
    .all(which.endedBefore, which.keep, which.limit)
    .map((row) => String(row['id']))

const changed = (result: { changes: number | bigint }): boolean => Number(result.changes) > 0
