import type { Alias, Found, HoldfastEvent, LiveRun, NativeId, Run, RunRoot, SessionRecord, Snapshot, Tokens } from '../../model/index.ts'
import { isLive, Problem } from '../../model/index.ts'
import type { Database, Row } from '../driver.ts'
import { allLocks, locksOf } from './lock.ts'
import { LIVE, runColumns, toEvent, toRoot, toRun, toSession } from './rows.ts'

/** How many candidates an ambiguous prefix names. */
const CANDIDATES = 6

const toView = (row: Row): SessionRecord => ({ session: toSession(row), run: row['run_id'] === null ? null : toRun(row) })

const VIEW = `SELECT s.*, ${runColumns('r')} FROM session s LEFT JOIN run r ON r.session = s.id AND r.epoch = s.epoch`

export function find(db: Database, reference: string, how: 'exact' | 'prefix'): Found {
  const exact = db
    .prepare(`${VIEW} WHERE s.id = ? OR s.id = (SELECT session FROM alias WHERE alias = ?) ORDER BY s.id = ? DESC`)
    .all(reference, reference, reference)
  if (exact[0] !== undefined) return { kind: 'found', view: toView(exact[0]) }
  if (how === 'exact') return { kind: 'none' }
  const begins = (column: string): string => `substr(${column}, 1, length(?)) = ?`
  const near = db
    .prepare(
      `${VIEW} WHERE ${begins('s.id')} OR s.id IN (SELECT session FROM alias WHERE ${begins('alias')}) OR r.id = ? ORDER BY s.created_at DESC LIMIT ${CANDIDATES}`,
    )
    .all(reference, reference, reference, reference, reference)
    .map(toView)
  if (near.length === 0 || near[0] === undefined) return { kind: 'none' }
  return near.length === 1 ? { kind: 'found', view: near[0] } : { kind: 'ambiguous', sessions: near.map((view) => view.session) }
}

export const aliases = (db: Database, session: string): Alias[] =>
  db
    .prepare(`SELECT alias, former FROM alias WHERE session = ? ORDER BY alias`)
    .all(session)
    .map((row) => ({ alias: String(row['alias']), former: row['former'] === 1 }))

export const formerIds = (db: Database, session: string): string[] =>
  db
    .prepare(`SELECT alias FROM alias WHERE session = ? AND former = 1 ORDER BY alias`)
    .all(session)
    .map((row) => String(row['alias']))

export function nativeOwner(db: Database, { harness, id }: NativeId): SessionRecord | null {
  const row = db.prepare(`${VIEW} WHERE s.harness = ? AND s.native = ?`).get(harness, id)
  return row === undefined ? null : toView(row)
}

export const snapshot = (db: Database, which: 'live' | 'all', limit: number, only: readonly string[] | null): Snapshot => ({
  ...views(db, which, limit, only),
  locks: only === null ? allLocks(db) : locksOf(db, only),
})

export const liveRuns = (db: Database, limit: number): Omit<Snapshot, 'locks'> => views(db, 'live', limit, null)

function views(db: Database, which: 'live' | 'all', limit: number, only: readonly string[] | null): Omit<Snapshot, 'locks'> {
  const where =
    which === 'live' ? `JOIN run r ON r.session = s.id WHERE r.state IN (${LIVE})` : 'JOIN run r ON r.session = s.id AND r.epoch = s.epoch WHERE 1'
  const among = only === null ? '' : 'AND r.id IN (SELECT value FROM json_each(?))'
  const rows = db
    .prepare(`SELECT s.*, ${runColumns('r')} FROM session s ${where} ${among} ORDER BY r.started_at DESC LIMIT ?`)
    .all(...(only === null ? [] : [JSON.stringify(only)]), limit)
  const found: SessionRecord[] = []
  const unreadable: string[] = []
  for (const row of rows) {
    try {
      found.push(toView(row))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      unreadable.push(String(row['run_id']))
    }
  }
  return { views: found, unreadable }
}

export function run(db: Database, id: string): Run | null {
  const row = db.prepare(`SELECT ${runColumns('r')} FROM run r WHERE id = ?`).get(id)
  return row === undefined ? null : toRun(row)
}

export const runs = (db: Database, session: string, limit: number): Run[] =>
  db
    .prepare(`SELECT ${runColumns('r')} FROM run r WHERE session = ? ORDER BY epoch DESC LIMIT ?`)
    .all(session, limit)
    .map(toRun)

const TOKENS = ['input', 'output', 'cacheRead', 'cacheWrite', 'cost'] as const

export function spent(db: Database, sessions: readonly string[]): ReadonlyMap<string, Tokens> {
  const sums = TOKENS.map((name) => `sum(json_extract(usage, '$.tokens.${name}')) AS ${name}`)
  const rows = db
    .prepare(
      `SELECT session, ${sums.join(', ')} FROM run WHERE session IN (SELECT value FROM json_each(?)) AND ended_at IS NOT NULL
       AND json_extract(usage, '$.tokens') IS NOT NULL GROUP BY session`,
    )
    .all(JSON.stringify(sessions))
  return new Map(
    rows.map((row) => {
      const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0] = TOKENS.map((name) => Number(row[name] ?? 0))
      return [String(row['session']), { input, output, cacheRead, cacheWrite, cost: row['cost'] === null ? null : Number(row['cost']) }]
    }),
  )
}

export const children = (db: Database, parent: string): LiveRun[] =>
  db
    .prepare(`SELECT ${runColumns('r')} FROM run r WHERE parent = ? AND independent = 0 AND state IN (${LIVE})`)
    .all(parent)
    .map(toRun)
    .filter(isLive)

export const startedIn = (db: Database, parent: string, limit: number): Run[] =>
  db
    .prepare(`SELECT ${runColumns('r')} FROM run r WHERE parent = ? ORDER BY started_at DESC LIMIT ?`)
    .all(parent, limit)
    .map(toRun)

export const tasks = (db: Database, which: 'live' | 'all', session: string | null, limit: number): Run[] =>
  db
    .prepare(
      `SELECT ${runColumns('r')} FROM run r WHERE task IS NOT NULL ${which === 'live' ? `AND state IN (${LIVE})` : ''}
       AND (?1 IS NULL OR parent IN (SELECT id FROM run WHERE session = ?1)) ORDER BY started_at DESC LIMIT ?2`,
    )
    .all(session, limit)
    .map(toRun)

export const endedLast = (db: Database, limit: number): string[] =>
  db
    .prepare('SELECT id FROM run WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT ?')
    .all(limit)
    .map((row) => String(row['id']))

export const allLive = (db: Database): ReadonlySet<string> =>
  new Set(
    db
      .prepare(`SELECT id FROM run WHERE state IN (${LIVE})`)
      .all()
      .map((row) => String(row['id'])),
  )

export const live = (db: Database, runs: readonly string[]): ReadonlySet<string> =>
  new Set(
    db
      .prepare(`SELECT id FROM run WHERE state IN (${LIVE}) AND id IN (SELECT value FROM json_each(?))`)
      .all(JSON.stringify(runs))
      .map((row) => String(row['id'])),
  )

export const ended = (db: Database, runs: readonly string[]): { id: string; newest: boolean }[] =>
  db
    .prepare(
      `SELECT r.id AS id, r.epoch = s.epoch AS newest FROM run r JOIN session s ON s.id = r.session
       WHERE r.state NOT IN (${LIVE}) AND r.id IN (SELECT value FROM json_each(?))`,
    )
    .all(JSON.stringify(runs))
    .map((row) => ({ id: String(row['id']), newest: row['newest'] === 1 }))

export const events = (db: Database, which: { session: string | null; after: number; limit: number }): HoldfastEvent[] =>
  (which.session === null
    ? db.prepare(`SELECT * FROM (SELECT * FROM event WHERE seq > ? ORDER BY seq DESC LIMIT ?) ORDER BY seq`).all(which.after, which.limit)
    : db
        .prepare(`SELECT * FROM (SELECT * FROM event WHERE session = ? AND seq > ? ORDER BY seq DESC LIMIT ?) ORDER BY seq`)
        .all(which.session, which.after, which.limit)
  ).map(toEvent)

/** A row that makes no sense speaks for nobody. */
export const roots = (db: Database): RunRoot[] =>
  db
    .prepare(
      `SELECT id, parent, marker, cookie, place, keeper, launcher, adopted, coalesce(tmux, 'null') <> 'null' AS hosted FROM run WHERE state IN (${LIVE})`,
    )
    .all()
    .flatMap((row) => {
      try {
        return [toRoot(row)]
      } catch {
        return []
      }
    })

export function runByMarker(db: Database, marker: number): LiveRun | null {
  const row = db.prepare(`SELECT ${runColumns('r')} FROM run r WHERE marker = ? AND state IN (${LIVE})`).get(marker)
  const found = row === undefined ? null : toRun(row)
  return found !== null && isLive(found) ? found : null
}

export function runWithMarker(db: Database, marker: number): Run | null {
  const row = db.prepare(`SELECT ${runColumns('r')} FROM run r WHERE marker = ? ORDER BY started_at DESC LIMIT 1`).get(marker)
  return row === undefined ? null : toRun(row)
}

/** All ids as one text: with thousands of runs, a row each costs more than everything else. */
export function unrecorded(db: Database, runs: readonly string[]): string[] {
  if (runs.length === 0) return []
  const known = new Set(String(db.prepare(`SELECT group_concat(id, ' ') AS ids FROM run`).get()?.['ids'] ?? '').split(' '))
  return runs.filter((id) => !known.has(id))
}

export const sessionsOfRuns = (db: Database): ReadonlyMap<string, string> =>
  new Map(
    db
      .prepare('SELECT id, session FROM run')
      .all()
      .map((row) => [String(row['id']), String(row['session'])]),
  )

/** A row that makes no sense is told elsewhere; the others are not kept from their keepers by it. */
export const unkept = (db: Database): LiveRun[] =>
  db
    .prepare(`SELECT ${runColumns('r')} FROM run r WHERE state IN (${LIVE}) AND keeper IS NULL AND adopted = 0`)
    .all()
    .flatMap((row) => {
      try {
        return [toRun(row)]
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        return []
      }
    })
    .filter(isLive)

const NEWEST = `SELECT seq || ' ' || at || ' ' || kind || ' ' || run AS event FROM event`

export function newestEvent(db: Database): string | null {
  const row = db.prepare(`${NEWEST} ORDER BY seq DESC LIMIT 1`).get()
  return row === undefined ? null : String(row['event'])
}

export const hasEvent = (db: Database, event: string): boolean =>
  db.prepare(`${NEWEST} WHERE seq = ?`).get(Number.parseInt(event, 10) || 0)?.['event'] === event
