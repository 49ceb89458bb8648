import { alsoOwnedText, type OwnerView, ownerJson } from './conversation-owners.ts'
import { type Paint, plain } from './paint.ts'
import { type SessionView, sightJson } from './session-view.ts'
import { type Cell, shorten, table } from './table.ts'
import { age, iso } from './time.ts'

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

const DIR_WIDTH = 40
const COMMAND_WIDTH = 48
const MAX_WORDS = 64
const MAX_WORD = 256

/** `ls --unmanaged`, and `ls --all` below the sessions. */
export function unmanagedText(sights: readonly UnmanagedView[], now: number, paint: Paint): string[] {
  if (sights.length === 0) return [paint.dim('no agents but those of sessions')]
  const head: Cell[] = ['HARNESS', 'PID', 'AGE', 'DIRECTORY', 'NATIVE-ID', 'COMMAND'].map((text) => ({ text, paint: paint.dim }))
  const rows = sights.map((sight): Cell[] => [
    { text: sight.harness, paint: paint.bold },
    { text: String(sight.pid) },
    { text: age(now - sight.startedAt) },
    { text: sight.dir === null ? '-' : shorten(plain(sight.dir), DIR_WIDTH) },
    { text: plain(sight.nativeId ?? (sight.named === null ? '-' : `${sight.named}?`)) },
    { text: [shorten(plain(commandText(sight.argv)), COMMAND_WIDTH), ...notesOn(sight)].join('  · ') },
  ])
  const adoptable = sights.some(({ marked, keptBy }) => marked === null && keptBy === null)
  return [...table([head, ...rows]), ...(adoptable ? [paint.dim('holdfast adopt PID takes one in as a session')] : [])]
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
