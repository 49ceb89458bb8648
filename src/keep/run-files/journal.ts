import type { JournalEntry } from '../../model/index.ts'
import { isSignallable, policy } from '../../model/index.ts'
import { readIfThere, writeIfPossible } from './atomic.ts'

/** A line a member: `PID TICKS PORTS NAME`, where ports are `-` or `3000,3001`. What makes no sense is left out. */
export function readJournal(path: string): JournalEntry[] {
  return (readIfThere(path, policy.runFileBytes) ?? '').split('\n').flatMap((line) => {
    const match = /^(\d+) (\d+) (-|[\d,]+) (.*)$/.exec(line)
    if (match === null || !isSignallable(Number(match[1]))) return []
    const ports = match[3] === '-' ? [] : (match[3] ?? '').split(',').map(Number)
    return [{ pid: Number(match[1]), ticks: Number(match[2]), ports, name: match[4] ?? '' }]
  })
}

export function writeJournal(path: string, entries: readonly JournalEntry[]): boolean {
  const lines = entries.map(({ pid, ticks, ports, name }) => `${pid} ${ticks} ${ports.join(',') || '-'} ${name.replaceAll('\n', ' ')}\n`)
  // A journal is only one of many proofs.
  return writeIfPossible(path, lines.join(''))
}
