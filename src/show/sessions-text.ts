import { type Activity, isLive, type RunState, type Tokens, totalTokens } from '../model/index.ts'
import { type Column, fitted } from './columns.ts'
import { type Page, tilde, WIDE, wrapped } from './page.ts'
import { type Paint, plain } from './paint.ts'
import type { SessionView, TaskView } from './session-view.ts'
import { type Cell, shorten } from './table.ts'
import { starterWords } from './task.ts'
import { age } from './time.ts'
import { tokensShort, tokensText } from './usage.ts'
import { cutPath } from './width.ts'

/** No cell is longer than this, however wide the page. */
const MOST = 120
/** In a table with every column, these are still comfortable to read; in a narrow one, still of use. */
const COMFORTABLE = { session: 16, directory: 24, about: 30, command: 24, agent: 8 }
const NARROW = { session: 10, directory: 12, about: 16, command: 12, agent: 6 }

/** `ls`: one line a session, and behind it (or below it, where it does not fit) what a person must know of it. */
export function sessionsText(sights: readonly SessionView[], now: number, paint: Paint, page: Page = WIDE): string[] {
  if (sights.length === 0) return [paint.dim('no sessions')]
  const lines = sights.flatMap((sight) => [lineOf(sight, now, paint), ...sight.tasks.flatMap((task) => nestedLine(task, now, paint))])
  const [head = '', ...rows] = fitted(tablesOf(lines, page), page.columns, paint.dim)
  return [head, ...rows.flatMap((row, index) => withNote(row, lines[index]?.note ?? null, page))]
}

type Line = {
  /** With its id and its name, and by what is shorter. */
  readonly called: Cell
  readonly short: string
  readonly state: Cell
  readonly pid: number | null
  readonly age: string
  readonly tokens: Tokens | null
  readonly directory: string
  readonly agent: string
  readonly about: string | null
  readonly argv: readonly string[]
  /** Of a command that is no agent, its arguments say what it is about. */
  readonly isAgent: boolean
  readonly note: string | null
}

function lineOf(sight: SessionView, now: number, paint: Paint): Line {
  const { session, run, pid } = sight
  return {
    called: { text: calledText(session), paint: paint.bold },
    short: session.name ?? session.id,
    state: stateCell(sight, now, paint),
    pid: isLive(run) ? pid : null,
    age: age(now - (isLive(run) ? run.startedAt : run.endedAt)),
    tokens: sight.tokens?.session ?? null,
    directory: placeText(sight),
    agent: session.harness ?? programOf(run.argv),
    about: sight.about ?? null,
    argv: run.argv,
    isAgent: session.harness !== null,
    note: noteOf(sight),
  }
}

/** An agent inside a session stands below it, with what it burns itself. */
function nestedLine({ run, usage, nested }: TaskView, now: number, paint: Paint): Line[] {
  if (nested === undefined) return []
  return [
    {
      called: { text: `  ${run.session}` },
      short: `  ${run.session}`,
      state: { text: run.state, paint: stateColour(run.state, paint) },
      pid: nested.pid,
      age: age(now - run.startedAt),
      tokens: usage?.tokens ?? null,
      directory: run.dir,
      agent: nested.harness,
      about: null,
      argv: run.argv,
      isAgent: true,
      note: starterWords(nested, now),
    },
  ]
}

/** The widest first: the command and the pid go first where it is narrow, then tokens, directory and words. */
function tablesOf(lines: readonly Line[], page: Page): Column[][] {
  const column = (name: string, cell: (line: Line) => Cell, more: Omit<Column, 'name' | 'cells'> = {}): Column => ({
    name,
    cells: lines.map(cell),
    ...more,
  })
  const text = (of: (line: Line) => string) => (line: Line) => ({ text: shorten(plain(of(line)), MOST) })
  const build = (least: typeof NARROW, isWhole: boolean) => ({
    session: column('SESSION', ({ called, short }) => (isWhole ? called : { ...called, text: short }), { least: least.session }),
    state: column('STATE', ({ state }) => state),
    pid: column('PID', ({ pid }) => ({ text: String(pid ?? '-') })),
    age: column('AGE', (line) => ({ text: line.age })),
    tokens: column('TOKENS', ({ tokens }) => ({ text: tokens === null ? '-' : tokensShort(tokens) })),
    directory: column(
      'DIRECTORY',
      text((line) => tilde(line.directory, page)),
      { least: least.directory, cut: cutPath },
    ),
    agent: column(
      'AGENT',
      text(({ agent }) => agent),
      { least: least.agent },
    ),
    about: column(
      'ABOUT',
      text(({ about, isAgent, argv }) => about ?? ((!isAgent && !isWhole && argv.slice(1).join(' ')) || '-')),
      { least: least.about },
    ),
    command: column(
      'COMMAND',
      text(({ argv }) => argv.join(' ')),
      { least: least.command },
    ),
  })
  const all = build(COMFORTABLE, true)
  const some = build(COMFORTABLE, false)
  const few = build(NARROW, false)
  const tokens = (one: Column): Column[] => (lines.some((line) => line.tokens !== null) ? [one] : [])
  const about = lines.some((line) => line.about !== null) ? [all.about] : []
  return [
    [all.session, all.state, all.pid, all.age, ...tokens(all.tokens), all.directory, all.agent, ...about, all.command],
    [some.session, some.state, some.pid, some.age, ...tokens(some.tokens), some.directory, some.agent, some.about],
    [some.session, some.state, some.age, ...tokens(some.tokens), some.directory, some.agent, some.about],
    [few.session, few.state, few.age, ...tokens(few.tokens), few.directory, few.agent, few.about],
    [few.session, few.state, few.age, few.directory, few.agent, few.about],
    [few.session, few.state, few.age, few.directory, few.agent],
    [{ ...few.session, least: 7 }, { ...few.state, least: 7 }, few.age],
  ]
}

/** Where there is no limit, a session is one line. */
export const withNote = (row: string, note: string | null, page: Page): string[] => {
  if (note === null) return [row]
  return page.columns === null ? [`${row}  · ${note}`] : [row, ...wrapped(`  · ${tilde(note, page)}`, page.columns, 4)]
}

function noteOf({ run, note, tokens }: SessionView): string | null {
  const why = isLive(run) ? note : (note ?? (run.state === 'completed' ? null : run.reason))
  const burned = tokens?.unwatched == null || totalTokens(tokens.unwatched.tokens) === 0 ? null : tokens.unwatched.tokens
  const notes = [...(why === null ? [] : [plain(why)]), ...(burned === null ? [] : [`spends unwatched: ${tokensText(burned)}`])]
  return notes.length === 0 ? null : notes.join('  · ')
}

export const calledText = ({ id, name }: SessionView['session']): string => (name === null || name === id ? id : `${id} (${name})`)

export const stateColour = (state: RunState, paint: Paint): ((text: string) => string) => {
  if (state === 'running' || state === 'completed') return paint.green
  if (state === 'starting' || state === 'stopping') return paint.yellow
  return state === 'failed' || state === 'lost' ? paint.red : paint.dim
}

/** A live agent that is known to be at something says more than `running`. What needs an answer is seen at once. */
function stateCell({ run, liveness, activity = null }: SessionView, now: number, paint: Paint): Cell {
  if (activity === null) return { text: liveness === 'unknown' ? `${run.state}?` : run.state, paint: stateColour(run.state, paint) }
  return { text: activityText(activity, now), paint: activity.state === 'waiting' ? paint.yellow : stateColour(run.state, paint) }
}

export const activityText = ({ state, since }: Activity, now: number): string => (since === null ? state : `${state} ${age(now - since)}`)

/** A worktree of ours is called by what it is of: its path says little. */
const placeText = ({ run, worktree = null }: SessionView): string =>
  worktree === null ? run.dir : `worktree ${worktree.repository?.split('/').at(-1) ?? '?'}@${worktree.branch ?? '?'}`

const programOf = ([program = '-']: readonly string[]): string => program.split('/').at(-1) ?? program
