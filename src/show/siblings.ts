import type { Said, Saying } from '../model/index.ts'
import { type Paint, plain } from './paint.ts'
import { activityJson, type SessionView, taskJson, usageJson } from './session-view.ts'
import { type Cell, shorten, table } from './table.ts'
import { taskText } from './task.ts'
import { age, iso } from './time.ts'
import { tokensShort } from './usage.ts'

/** Another live session, as it was just seen. */
export type SiblingView = {
  readonly sight: SessionView
  /** It was started in the asker's session, or that in it. */
  readonly relation: 'child' | 'parent' | null
  readonly branch: string | null
  /** What it says of its own work; null: nothing. */
  readonly said: Said | null
  /** The directories that it holds besides its own. */
  readonly locks: readonly string[]
  /** Where its processes listen (TCP); null: it was not looked at. */
  readonly ports: readonly number[] | null
  /** Whether it works where the asker does, where that was asked. */
  readonly here?: boolean
}

/** `self`: for whom it was asked; null: for nobody in particular. */
export type SiblingsView = { readonly self: string | null; readonly here: boolean; readonly siblings: readonly SiblingView[] }

const DIR_WIDTH = 40
const BRANCH_WIDTH = 24
const SAID_LENGTH = 200

/** `siblings`: a line each, with what it says of itself below; of many, so many and the count. */
export function siblingsText({ self, here, siblings }: SiblingsView, most: number, now: number, paint: Paint): string[] {
  const whose =
    self === null ? [paint.dim(`you are in no session; these are all live ones${here ? ' in this repository or directory tree' : ''}`)] : []
  if (siblings.length === 0) return [...whose, paint.dim(self === null ? 'no sessions' : 'no siblings')]
  const shown = siblings.slice(0, most)
  const counts = shown.some(({ sight }) => sight.tokens?.session != null)
  const names = ['SESSION', 'STATE', 'PID', 'AGE', ...(counts ? ['TOKENS'] : []), 'PORTS', 'BRANCH', 'DIRECTORY']
  const [head = '', ...lines] = table([
    names.map((text): Cell => ({ text, paint: paint.dim })),
    ...shown.map((sibling) => rowOf(sibling, counts, now, paint)),
  ])
  const told = shown.flatMap((sibling, index) => [lines[index] ?? '', ...wordsOf(sibling, self, now).map((line) => `  ${paint.dim(line)}`)])
  return [...whose, head, ...told, ...(siblings.length > most ? [paint.dim(`${most} of ${siblings.length}`)] : [])]
}

function rowOf({ sight, branch, ports }: SiblingView, counts: boolean, now: number, paint: Paint): Cell[] {
  const { session, run, pid, liveness, tokens } = sight
  return [
    { text: session.name === null || session.name === session.id ? session.id : `${session.id} (${session.name})`, paint: paint.bold },
    { text: liveness === 'unknown' ? `${run.state}?` : run.state, paint: liveness === 'unknown' ? paint.yellow : paint.green },
    { text: String(pid ?? '-') },
    { text: age(now - run.startedAt) },
    ...(counts ? [{ text: tokens?.session == null ? '-' : tokensShort(tokens.session) }] : []),
    { text: ports === null ? '?' : ports.length === 0 ? '-' : cut(ports.join(','), BRANCH_WIDTH) },
    { text: branch === null ? '-' : shorten(plain(branch), BRANCH_WIDTH) },
    { text: shorten(plain(run.dir), DIR_WIDTH) },
  ]
}

function wordsOf({ sight, relation, said, locks }: SiblingView, self: string | null, now: number): string[] {
  const by = (what: string, saying: Saying | null | undefined): string[] =>
    saying == null ? [] : [`${what} (${age(now - saying.at)} ago): ${cut(plain(saying.text), SAID_LENGTH)}`]
  return [
    ...sight.tasks.flatMap((task) => (task.nested === undefined ? [] : [cut(`inside it: ${taskText(task, now)}`, SAID_LENGTH)])),
    ...(relation === null ? [] : [relation === 'child' ? `it was started in ${self}` : `${self} was started in it`]),
    ...by('plan', said?.plan),
    ...by('result', said?.result),
    ...(locks.length === 0 ? [] : [`it also holds ${cut(plain(locks.join(', ')), SAID_LENGTH)}`]),
    ...(sight.note === null ? [] : [cut(plain(sight.note), SAID_LENGTH)]),
  ]
}

const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length - 1)}…`)

/** The stable object of each entry of `siblings --json`. */
export const siblingJson = ({ sight, relation, branch, said, locks, ports, here }: SiblingView): Record<string, unknown> => ({
  session: sight.session.id,
  name: sight.session.name,
  run: sight.run.id,
  pid: sight.pid,
  dir: sight.run.dir,
  branch,
  harness: sight.session.harness,
  nativeId: sight.session.native,
  since: iso(sight.run.startedAt),
  liveness: sight.liveness,
  state: sight.run.state,
  activity: activityJson(sight.activity ?? null),
  relation,
  doing: said === null ? null : { plan: sayingJson(said.plan), result: sayingJson(said.result) },
  locks,
  ports,
  usage: usageJson(null, sight.tokens),
  tasks: sight.tasks.map(taskJson),
  note: sight.note,
  ...(here === undefined ? {} : { here }),
})

const sayingJson = (saying: Saying | null): Record<string, unknown> | null => (saying === null ? null : { text: saying.text, at: iso(saying.at) })
