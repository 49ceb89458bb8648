import type { DoubtfulTime, UsageMark, UsageWindow } from '../model/index.ts'
import { NO_TOKENS } from '../model/index.ts'

/**
 * The stretches of a conversation that an agent had for itself, in order. A mark that comes twice counts once. A closed one is counted anew under
 * a key of its own, since it may have been closed after more was read.
 */
export function windowsOf(marks: readonly UsageMark[], key: string): UsageWindow[] {
  const windows: UsageWindow[] = []
  let open: UsageWindow | null = null
  for (const mark of marks) {
    if ('native' in mark && mark.native === key) {
      const last = windows.at(-1)
      const isReturn = last === undefined || (mark.at ?? Number.NEGATIVE_INFINITY) >= (last.until ?? 0)
      if (open === null && isReturn) open = { key: `${key}${windows.length === 0 ? '' : ` #${windows.length + 1}`}`, start: mark.cursor, until: null }
    } else if ('left' in mark && mark.left === key) {
      if (open !== null) windows.push(open)
      open = null
      for (const [index, window] of windows.entries()) windows[index] = cutAt(window, mark.at)
    }
  }
  return open === null ? windows : [...windows, open]
}

/** The earliest end holds. */
function cutAt(window: UsageWindow, at: number): UsageWindow {
  if (window.until !== null && window.until <= at) return window
  return { ...window, key: `${window.key.split(' <', 1)[0]} <${at}`, until: at }
}

/** What is left of a stretch without the times in which nobody can tell who spent: an end never rests on those. Totals have no times: of them nothing is sure. */
export function withoutDoubt(window: UsageWindow, doubts: readonly DoubtfulTime[]): UsageWindow[] {
  if (doubts.length === 0) return [window]
  if (window.start.kind !== 'lines') return []
  const end = window.until ?? Number.POSITIVE_INFINITY
  const sure: UsageWindow[] = []
  let start: UsageWindow['start'] | null = window.start
  let from = window.start.since ?? Number.NEGATIVE_INFINITY
  for (const doubt of doubts.toSorted((one, other) => one.from - other.from)) {
    if (doubt.from >= end) break
    if (start !== null && doubt.from > from) sure.push({ key: `${window.key} <${doubt.from}`, start, until: doubt.from })
    if (doubt.to === null) return sure
    if (doubt.to <= from) continue
    from = doubt.to
    start = { kind: 'lines', since: from, tokens: NO_TOKENS, files: {} }
  }
  return start === null || from >= end ? sure : [...sure, { key: `${window.key} >${from}`, start, until: window.until }]
}
