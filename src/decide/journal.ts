import type { JournalEntry, Member } from '../model/index.ts'
import { sameProcess } from '../model/index.ts'

/**
 * What is remembered after `members` were seen; null if that is what was remembered before. One who is gone is remembered only for the
 * ports it had, as long as there is room.
 */
export function nextJournal(before: readonly JournalEntry[], members: readonly Member[], size: number): JournalEntry[] | null {
  const seen = members.map(({ row, ports }): JournalEntry => {
    const known = before.find((entry) => sameProcess(entry, row))
    return { pid: row.pid, ticks: row.ticks, name: row.name, ports: ports ?? known?.ports ?? [] }
  })
  const newest = seen.toSorted((a, b) => b.ticks - a.ticks || b.pid - a.pid).slice(0, size)
  const gone = before.filter((entry) => entry.ports.length > 0 && !newest.some((one) => sameProcess(one, entry)))
  const next = [...newest, ...gone].slice(0, size)
  return sameEntries(before, next) ? null : next
}

const sameEntries = (a: readonly JournalEntry[], b: readonly JournalEntry[]): boolean =>
  a.length === b.length && a.every((entry, index) => keyOf(entry) === keyOf(b[index]))

const keyOf = (entry: JournalEntry | undefined): string => (entry === undefined ? '' : `${entry.pid} ${entry.ticks} ${entry.ports.join(',')}`)
