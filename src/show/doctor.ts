import { type Page, tilde, WIDE, wrapped } from './page.ts'
import { type Paint, plain } from './paint.ts'

/** One thing that `doctor` found, and what can be done about it. */
export type Finding = {
  readonly topic: string
  readonly level: 'fine' | 'note' | 'trouble'
  readonly what: string
  readonly next: string | null
}

/** Where all is well, the answer is no longer than this. */
const MOST_LINES = 10
/** Of what is well, a person wants to know these. */
const TOPICS = ['agents', 'hooks', 'config', 'containment', 'daemon']
const LEVELS = ['trouble', 'note', 'fine'] as const

/** Trouble first. All of it is told; of the rest, what fits on a small page, unless `whole`. */
export function findingsText(findings: readonly Finding[], paint: Paint, page: Page = WIDE, whole = false): string[] {
  const told = (level: Finding['level']): string[][] =>
    findings
      .filter((finding) => finding.level === level && (whole || level !== 'fine' || TOPICS.includes(finding.topic)))
      .map((finding) => findingText(finding, paint, page, whole || level !== 'fine'))
  if (whole) return LEVELS.flatMap((level) => told(level).flat())
  const [trouble, notes, fine] = [told('trouble').flat(), told('note'), told('fine').flat()]
  const room = MOST_LINES - fine.length - 1
  const shown: string[] = []
  let left = notes.length
  for (const lines of notes) {
    if (shown.length + lines.length > room) break
    shown.push(...lines)
    left--
  }
  const more = left === 0 ? [] : [paint.dim(`        ${left} more ${left === 1 ? 'note' : 'notes'}: holdfast doctor --verbose`)]
  return [...trouble, ...shown, ...more, ...fine, ...(trouble.length + notes.length === 0 ? [paint.green('all is well')] : [])]
}

const INDENT = 8

function findingText({ topic, level, what, next }: Finding, paint: Paint, page: Page, withNext: boolean): string[] {
  const colour = { fine: paint.green, note: paint.yellow, trouble: paint.red }[level]
  const label = level.padEnd(INDENT)
  const [first = '', ...rest] = wrapped(`${label}${topic}: ${tilde(plain(what), page)}`, page.columns, INDENT)
  const hint = next === null || !withNext ? [] : wrapped(`${' '.repeat(INDENT)}${tilde(plain(next), page)}`, page.columns, INDENT)
  return [
    `${colour(level)}${' '.repeat(INDENT - level.length)}${paint.bold(topic)}${first.slice(INDENT + topic.length)}`,
    ...rest,
    ...hint.map(paint.dim),
  ]
}

/** What `prune` found, a line each. */
export function litterText(found: readonly { what: string; why: string; keep: boolean }[], dryRun: boolean): string[] {
  if (found.length === 0) return ['nothing to remove']
  return found.map(({ what, why, keep }) => `${keep ? 'kept' : dryRun ? 'would remove' : 'removed'} ${plain(what)} (${plain(why)})`)
}

/** What a start says of what it removed; nothing, if that is nothing. */
export function reapedText(removed: readonly { what: string }[], most: number): string[] {
  if (removed.length === 0) return []
  const more = removed.length > most ? `; and ${removed.length - most} more` : ''
  const named = removed.slice(0, most).map(({ what }) => plain(what))
  return [`removed ${removed.length} ${removed.length === 1 ? 'thing' : 'things'} that dead processes left: ${named.join('; ')}${more}`]
}
