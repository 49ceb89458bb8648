import { type Paint, plain } from './paint.ts'

/** One thing that `doctor` found, and what can be done about it. */
export type Finding = {
  readonly topic: string
  readonly level: 'fine' | 'note' | 'trouble'
  readonly what: string
  readonly next: string | null
}

export function findingsText(findings: readonly Finding[], paint: Paint): string[] {
  const colour = { fine: paint.green, note: paint.yellow, trouble: paint.red }
  return findings.flatMap(({ topic, level, what, next }) => [
    `${colour[level](level.padEnd(7))} ${paint.bold(topic)}: ${plain(what)}`,
    ...(next === null ? [] : [`        ${paint.dim(plain(next))}`]),
  ])
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
