import { type Column, fitted } from './columns.ts'
import { alsoOwnedText, type OwnerView, ownerJson } from './conversation-owners.ts'
import { type Page, tilde, WIDE, wrapped } from './page.ts'
import { type Paint, plain } from './paint.ts'
import { type SessionView, sightJson } from './session-view.ts'
import { withNote } from './sessions-text.ts'
import { type Cell, shorten } from './table.ts'
import { age, iso } from './time.ts'
import { cutPath } from './width.ts'

/** An agent at work that is no member of any run of ours, as it was just seen. */
export type UnmanagedView = {
  readonly harness: string
  readonly pid: number
  /** What only launched it, outermost first. */
  readonly launchers: readonly number[]
  /** The harness's own id of its session, where that is proven; and the one that its command line names, which proves nothing. */
  readonly nativeId: string | null
  readonly named: string | null
  readonly dir: string | null
  readonly startedAt: number
  readonly argv: readonly string[]
  /** Whose marker it carries, in words. */
  readonly marked: string | null
  /** The shared daemon that keeps it, and how that ends it. */
  readonly keptBy: { readonly what: string; readonly stop: readonly string[] | null } | null
  /** Our own command was started in it. */
  readonly around: boolean
  readonly duplicateOf: readonly OwnerView[]
}

/** Below the sessions of `ls`: they are there, and the command that shows them. */
export const strangersText = (count: number): string[] =>
  count === 0 ? [] : [`${count} ${count === 1 ? 'agent' : 'agents'} that Holdfast did not start: holdfast ls --unmanaged`]

const MOST = 120
const LEAST_DIRECTORY = 12
const LEAST_COMMAND = 24
const MAX_WORDS = 64
const MAX_WORD = 256

/** `ls --unmanaged`, and `ls --all` below the sessions. The pid stays: `adopt` takes it. */
export function unmanagedText(sights: readonly UnmanagedView[], now: number, paint: Paint, page: Page = WIDE): string[] {
  if (sights.length === 0) return [paint.dim('no agents but those of sessions')]
  const column = (name: string, cell: (sight: UnmanagedView) => Cell, more: Omit<Column, 'name' | 'cells'> = {}): Column => ({
    name,
    cells: sights.map(cell),
    ...more,
  })
  const text = (of: (sight: UnmanagedView) => string) => (sight: UnmanagedView) => ({ text: shorten(plain(of(sight)), MOST) })
  const [harness, pid, since, directory, native, command] = [
    column('HARNESS', (sight) => ({ text: sight.harness, paint: paint.bold })),
    column('PID', (sight) => ({ text: String(sight.pid) })),
    column('AGE', (sight) => ({ text: age(now - sight.startedAt) })),
    column(
      'DIRECTORY',
      text(({ dir }) => (dir === null ? '-' : tilde(dir, page))),
      { least: LEAST_DIRECTORY, cut: cutPath },
    ),
    column(
      'NATIVE-ID',
      text(({ nativeId, named }) => nativeId ?? (named === null ? '-' : `${named}?`)),
    ),
    column(
      'COMMAND',
      text(({ argv }) => commandText(argv)),
      { least: LEAST_COMMAND },
    ),
  ]
  const all = [harness, pid, since, directory, native, command]
  const tables = [all, all.slice(0, 5), all.slice(0, 4), all.slice(0, 3)]
  const [head = '', ...rows] = fitted(tables, page.columns, paint.dim)
  const adoptable = sights.some(({ marked, keptBy }) => marked === null && keptBy === null)
  return [
    head,
    ...rows.flatMap((row, index) => withNote(row, notesOn(sights[index] as UnmanagedView).join('  · ') || null, page)),
    ...(adoptable ? wrapped('holdfast adopt PID takes one in as a session', page.columns).map(paint.dim) : []),
  ]
}

/** Where its program lies says little. */
const commandText = ([program = '', ...words]: readonly string[]): string => [program.slice(program.lastIndexOf('/') + 1), ...words].join(' ')

function notesOn({ marked, keptBy, around, duplicateOf }: UnmanagedView): string[] {
  return [
    ...(around ? ['this command was started in it'] : []),
    ...(marked === null ? [] : [`it has the marker of ${plain(marked)}`]),
    ...(keptBy === null ? [] : [`kept by ${plain(keptBy.what)}${keptBy.stop === null ? '' : `; ${plain(commandText(keptBy.stop))} ends it`}`]),
    ...(duplicateOf.length === 0 ? [] : [alsoOwnedText(duplicateOf)]),
  ]
}

/** An entry of `ls --json`: what `status` says of it, that it is ours, and who else owns its native id. */
export const managedJson = (sight: SessionView): Record<string, unknown> => ({
  ...sightJson(sight),
  managed: true,
  duplicateOf: (sight.duplicateOf ?? []).map(ownerJson),
})

/** An entry of `ls --unmanaged --json`. What a session has too is called the same. */
export const unmanagedJson = (sight: UnmanagedView): Record<string, unknown> => ({
  session: null,
  state: 'unmanaged',
  liveness: 'alive',
  pid: sight.pid,
  dir: sight.dir,
  harness: sight.harness,
  nativeId: sight.nativeId,
  named: sight.named,
  argv: sight.argv.slice(0, MAX_WORDS).map((word) => (word.length > MAX_WORD ? `${word.slice(0, MAX_WORD - 1)}…` : word)),
  startedAt: iso(sight.startedAt),
  launchers: sight.launchers,
  marked: sight.marked,
  keptBy: sight.keptBy,
  around: sight.around,
  note: notesOn(sight).join('; ') || null,
  managed: false,
  duplicateOf: sight.duplicateOf.map(ownerJson),
})
