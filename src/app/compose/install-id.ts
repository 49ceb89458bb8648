import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { FileTrouble, readFile, wordsOf } from '../../lib/index.ts'
import type { RunRecord } from '../../model/index.ts'

/** Where the records of runs say in which home they began. */
export type RunRecords = { list(): string[]; read(id: string): RunRecord | null }

/** `trouble`: why the file `install` was not used, for people; null: it was. */
export type InstallId = { readonly id: string; readonly trouble: string | null }

const INSTALL_BYTES = 4096
/** So many run directories are asked at most. */
const RECORDS_READ = 1000
const GRAMMAR = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The id of a home, without writing anything. Runs know it too: an agent that replaces or deletes the file is stopped as before, and its home
 * stays the same one. Null: neither a file nor a run tells it. Throws where there is a file that cannot be used, and no run that tells it.
 */
export function findInstallId(home: string, runs: () => RunRecords): InstallId | null {
  let trouble: unknown
  try {
    const id = readFile(join(home, 'install'), INSTALL_BYTES, 'followed').trim()
    if (GRAMMAR.test(id)) return { id, trouble: null }
    trouble = new FileTrouble(join(home, 'install'), 'EINVAL', 'holds no id of a home')
  } catch (error) {
    trouble = error
  }
  const records = runs()
  const id = idOfRuns(records)
  if (id !== null) return { id, trouble: wordsOf(trouble) }
  if ((trouble as NodeJS.ErrnoException).code === 'ENOENT') return null
  // Records that cannot be read either keep nobody from stopping what runs. After a reboot they are unknown.
  if (records.list().length > 0) return { id: randomUUID(), trouble: wordsOf(trouble) }
  throw trouble
}

/** The newest record counts. */
function idOfRuns(records: RunRecords): string | null {
  const found = records
    .list()
    .slice(-RECORDS_READ)
    .flatMap((id) => records.read(id) ?? [])
    .filter(({ place }) => GRAMMAR.test(place.install))
    .toSorted((one, other) => other.startedAt - one.startedAt)
  return found[0]?.place.install ?? null
}
