import type { Containment, Directory, HoldfastEvent, Intent, Lock, Run, RunBase, RunRoot, RunState, Session, Usage } from '../../model/index.ts'
import { LIVE_STATES, Problem } from '../../model/index.ts'
import type { Row } from '../driver.ts'

/** The states of live runs, as a list in SQL. */
export const LIVE = LIVE_STATES.map((state) => `'${state}'`).join(', ')

export const json = <T>(value: unknown): T => JSON.parse(String(value)) as T
export const jsonOrNull = <T>(value: unknown): T | null => (value === null ? null : json<T>(value))
export const textOrNull = (value: unknown): string | null => (value === null ? null : String(value))
export const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value))

/** Columns of a run, for a join that also has a session's. */
export const RUN_COLUMNS = [
  'id',
  'session',
  'epoch',
  'state',
  'place',
  'launcher',
  'keeper',
  'harness',
  'marker',
  'cookie',
  'argv',
  'dir',
  'detached',
  'until',
  'deadline_at',
  'parent',
  'independent',
  'host',
  'user',
  'tty',
  'started_at',
  'ended_at',
  'intent',
  'exit',
  'survivors',
  'reason',
  'evidence',
  'ended_by',
  'containment',
  'task',
  'usage',
  'adopted',
  'budget',
  'budget_cost',
  'tmux',
] as const
export const runColumns = (table: string): string => RUN_COLUMNS.map((column) => `${table}.${column} AS run_${column}`).join(', ')

/** A row that makes no sense is a fault of that row, not of the store. */
export function toRun(row: Row): Run {
  try {
    return readRun(row)
  } catch (error) {
    throw new Problem('run-unreadable', `run ${String(row['run_id'])} in the store cannot be read`, {
      hint: 'its directory under runs/ may still tell; other runs are not affected',
      cause: error,
      detail: { unreadableRun: String(row['run_id']) },
    })
  }
}

function readRun(row: Row): Run {
  const at = (column: (typeof RUN_COLUMNS)[number]): unknown => row[`run_${column}`]
  const base: RunBase = {
    id: String(at('id')),
    session: String(at('session')),
    epoch: Number(at('epoch')),
    place: json(at('place')),
    launcher: json(at('launcher')),
    marker: numberOrNull(at('marker')),
    cookie: String(at('cookie')),
    argv: json(at('argv')),
    dir: String(at('dir')),
    detached: at('detached') === 1,
    until: at('until') === 'tree' ? 'tree' : 'harness',
    deadlineAt: numberOrNull(at('deadline_at')),
    parent: textOrNull(at('parent')),
    independent: at('independent') === 1,
    containment: jsonOrNull<Containment>(at('containment')) ?? { level: 'none', why: 'it was started by an older Holdfast' },
    task: textOrNull(at('task')) as RunBase['task'],
    adopted: at('adopted') === 1,
    budget: numberOrNull(at('budget')),
    budgetCost: numberOrNull(at('budget_cost')),
    tmux: jsonOrNull<RunBase['tmux']>(at('tmux')),
    host: String(at('host')),
    user: String(at('user')),
    tty: textOrNull(at('tty')),
    startedAt: Number(at('started_at')),
  }
  const state = String(at('state')) as RunState
  const keeper = jsonOrNull<RunBase['launcher']>(at('keeper'))
  switch (state) {
    case 'starting':
    case 'running':
      return { ...base, state, keeper }
    case 'stopping':
      return {
        ...base,
        state,
        keeper,
        intent: jsonOrNull<Intent>(at('intent')),
        exit: jsonOrNull(at('exit')),
        survivors: jsonOrNull<[]>(at('survivors')) ?? [],
      }
    default:
      return {
        ...base,
        state,
        keeper,
        harness: jsonOrNull(at('harness')),
        endedAt: Number(at('ended_at')),
        exit: jsonOrNull(at('exit')),
        reason: String(at('reason')),
        evidence: jsonOrNull<string[]>(at('evidence')) ?? [],
        by: String(at('ended_by')),
        usage: jsonOrNull<Usage>(at('usage')),
      }
  }
}

export const toSession = (row: Row): Session => ({
  id: String(row['id']),
  name: textOrNull(row['name']),
  epoch: Number(row['epoch']),
  dir: String(row['dir']),
  argv: json(row['argv']),
  createdAt: Number(row['created_at']),
  harness: textOrNull(row['harness']),
  native: textOrNull(row['native']),
  wentTo: textOrNull(row['went_to']),
})

export const toDirectory = (row: Row): Directory => ({
  path: String(row['dir']),
  key: String(row['dir_key']),
  inner: String(row['dir_inner']),
  above: json(row['above']),
  below: json(row['below']),
  repository: jsonOrNull(row['repository']),
})

export const toLock = (row: Row): Lock => ({
  seq: Number(row['seq']),
  directory: toDirectory(row),
  holder: json(row['holder']),
  place: json(row['place']),
  session: textOrNull(row['session']),
  run: textOrNull(row['run']),
  since: Number(row['since']),
  reason: String(row['reason']),
  shared: json(row['shared']),
  host: String(row['host']),
  user: String(row['user']),
})

export const toEvent = (row: Row): HoldfastEvent => ({
  seq: Number(row['seq']),
  at: Number(row['at']),
  kind: String(row['kind']) as HoldfastEvent['kind'],
  session: String(row['session']),
  run: String(row['run']),
  epoch: Number(row['epoch']),
  detail: json(row['detail']),
})

export const toRoot = (row: Row): RunRoot => ({
  id: String(row['id']),
  parent: textOrNull(row['parent']),
  marker: numberOrNull(row['marker']),
  cookie: String(row['cookie']),
  place: json(row['place']),
  root: row['adopted'] === 1 ? json(row['launcher']) : jsonOrNull(row['keeper']),
  hosted: row['hosted'] === 1,
})
