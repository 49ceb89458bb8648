import { linkSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readIfFile, replaceFile } from '../../lib/index.ts'
import type { Versioned } from '../../model/index.ts'
import { policy } from '../../model/index.ts'

const NAME = /^aware\.(\d+)$/
/** So many versions lie there, so that a number that was taken is not soon free again. */
const KEPT = 16

/** What stands: of the files `aware.N` the one with the highest number. */
export function readTold(folder: string): Versioned {
  const version = versionsIn(folder).at(-1) ?? 0
  return { version, text: version === 0 ? null : readIfFile(join(folder, `aware.${version}`), policy.runFileBytes) }
}

/**
 * Puts another in the place of what was seen; false: somebody did before us, or it could not be written. Its number is taken by making the
 * file of that name, which only one can.
 */
export function replaceTold(folder: string, seen: number, text: string): boolean {
  const [ready, next] = [join(folder, `aware.left.${process.pid}`), join(folder, `aware.${seen + 1}`)]
  try {
    replaceFile(ready, text)
    linkSync(ready, next)
    const versions = versionsIn(folder)
    // One who was so slow that the number is free again has lost, too.
    const lost = (versions.at(-1) ?? 0) > seen + KEPT
    for (const version of lost ? [seen + 1] : versions.filter((one) => one <= seen + 1 - KEPT))
      rmSync(join(folder, `aware.${version}`), { force: true })
    return !lost
  } catch {
    return false
  } finally {
    rmSync(ready, { force: true })
  }
}

function versionsIn(folder: string): number[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => Number(NAME.exec(name)?.[1] ?? 0) || [])
      .toSorted((a, b) => a - b)
  } catch {
    return []
  }
}
