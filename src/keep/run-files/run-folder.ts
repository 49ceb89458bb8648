import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { orNull, readIfFile } from '../../lib/index.ts'
import { Problem } from '../../model/index.ts'
import { writeIfPossible } from './atomic.ts'

export const RUN_ID = /^r[0-9a-f]{12}$/

/**
 * A folder of ours is ours to enter. An agent of the same user can shut it by one chmod, which must keep nobody from ending that agent. So it is
 * opened again, and the work is tried once more.
 */
export function inFolder<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    orNull(() => chmodSync(folder, 0o700))
    return work()
  }
}

/** Directories that cannot be listed are not taken for none: runs in them may be alive. */
export function listRuns(root: string): string[] {
  try {
    return inFolder(root, () => readdirSync(root)).filter((name) => RUN_ID.test(name))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new Problem('home-unusable', `the run directories in ${root} cannot be listed: ${code}`, {
      hint: 'make the folder readable; until then nobody can tell what runs',
      cause: error,
    })
  }
}

/** So long a folder must have been at rest: within one tick of its file system, a second change has the time of the first. */
const REST_MS = 100

export function stampOf(folder: string, now: number): string | null {
  try {
    const { dev, ino, mtimeNs, mtimeMs, ctimeNs } = statSync(folder, { bigint: true })
    return now - Number(mtimeMs) < REST_MS ? null : `${dev} ${ino} ${mtimeNs} ${ctimeNs}`
  } catch {
    return null
  }
}

const at = (home: string): string => join(home, 'seen')

/** Longer than anything that we write there. */
const SEEN_BYTES = 512

export const readSeen = (home: string): string | null => readIfFile(at(home), SEEN_BYTES)

export const writeSeen = (home: string, text: string): void => void writeIfPossible(at(home), text)
