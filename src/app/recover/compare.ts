import type { RunRecords, Store } from '../../model/index.ts'

/**
 * How the store stands to the run directories. `missing`: those of runs that are not on record. `isNew`: the store does not know the newest event
 * that was seen, so it is an older or another one; or nobody has looked at it yet.
 */
export type Compared = { readonly missing: readonly string[]; readonly isNew: boolean; readonly stamp: string | null }

/**
 * Costs two small reads as long as no run directory came or went since all of them were found on record. The folder's stamp is taken before its
 * names are: what comes in between is looked at the next time.
 */
export async function compare(store: Store, runRecords: RunRecords, now: number): Promise<Compared> {
  const stamp = runRecords.stamp(now)
  const seen = parse(runRecords.seen())
  const isNew = seen === null || !(await store.events.has(seen.event))
  if (!isNew && stamp !== null && seen.stamp === stamp) return { missing: [], isNew, stamp }
  const listed = runRecords.list()
  return { missing: listed.length === 0 ? [] : await store.runs.unrecorded(listed), isNew, stamp }
}

/** All that lies there is on record. A stamp of null: it has to be looked at again, whatever changes. */
export async function recordCompared(store: Store, runRecords: RunRecords, stamp: string | null): Promise<void> {
  const event = await store.events.newest()
  const text = `${event}\n${stamp ?? '-'}\n`
  if (event !== null && text !== runRecords.seen()) runRecords.recordSeen(text)
}

/** What a run directory says has changed together with this store, which was compared when it was opened: one that does not know of it is older. */
export const recordChanged = (store: Store, runRecords: RunRecords): Promise<void> =>
  recordCompared(store, runRecords, parse(runRecords.seen())?.stamp ?? null)

const SEEN = /^(\d{1,15} [^\n]{1,200})\n([^\n]{1,200})\n$/

/** Null: whatever lies there says nothing. */
function parse(text: string | null): { readonly event: string; readonly stamp: string } | null {
  const [, event, stamp] = SEEN.exec(text ?? '') ?? []
  return event === undefined || stamp === undefined ? null : { event, stamp }
}
