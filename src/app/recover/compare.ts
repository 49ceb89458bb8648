import type { RunRecords, Store } from '../../model/index.ts'

/**
 * How the store stands to the run directories. `missing`: directories of runs that are not on record. `history`: `same`, the store knows the
 * newest event that was seen; `other`, it does not, so it is an older or another store; `unknown`, nothing that was seen holds any more.
 */
export type Compared = {
  readonly missing: readonly string[]
  readonly history: 'same' | 'other' | 'unknown'
  readonly stamp: string | null
}

/**
 * Costs two small reads as long as no run directory came or went since all of them were found on record. The folder's stamp is taken before its
 * names are: what comes in between is looked at the next time.
 */
export async function compare(store: Store, runRecords: RunRecords, now: number): Promise<Compared> {
  const stamp = runRecords.stamp(now)
  const seen = parse(runRecords.seen())
  const history = seen === null ? 'unknown' : (await store.events.has(seen.event)) ? 'same' : 'other'
  if (history === 'same' && stamp !== null && seen?.stamp === stamp) return { missing: [], history, stamp }
  const listed = runRecords.list()
  return { missing: listed.length === 0 ? [] : await store.runs.unrecorded(listed), history, stamp }
}

/** All that lies there is on record. `whole`: nothing was left that has to be looked at again. */
export async function recordCompared(store: Store, runRecords: RunRecords, stamp: string | null, whole: boolean): Promise<void> {
  const event = await store.events.newest()
  const text = event === null ? null : `${event}\n${whole && stamp !== null ? stamp : NEVER}\n`
  if (text !== runRecords.seen()) runRecords.recordSeen(text)
}

const NEVER = '-'
const SEEN = /^(\d{1,15} [^\n]{1,200})\n([^\n]{1,200})\n$/

/** Null: whatever lies there says nothing. */
function parse(text: string | null): { readonly event: string; readonly stamp: string } | null {
  const [, event, stamp] = SEEN.exec(text ?? '') ?? []
  return event === undefined || stamp === undefined ? null : { event, stamp }
}
