import { join } from 'node:path'
import { otherThanFile } from '../../lib/index.ts'
import { policy } from '../../model/index.ts'

/** What a run is judged by. An agent can put anything in the place of its own files: it is told, and nothing is read from it. */
const JUDGED: Readonly<Record<string, number>> = {
  exit: policy.evidenceBytes,
  pid: policy.evidenceBytes,
  keeper: policy.evidenceBytes,
  cgroup: policy.evidenceBytes,
  nostart: policy.evidenceBytes,
  'run.json': policy.runRecordBytes,
  members: policy.runFileBytes,
}

/** Null: all that is there is a plain file of its size. */
export function troubleIn(folder: string): string | null {
  const found = Object.entries(JUDGED).flatMap(([name, most]) => {
    const why = otherThanFile(join(folder, name), most)
    return why === null ? [] : [`its file ${name} ${why}`]
  })
  return found.length === 0 ? null : found.join(', ')
}
