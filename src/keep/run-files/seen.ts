import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { writeIfPossible } from './atomic.ts'
import { readFile } from './regular-file.ts'

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

export const readSeen = (home: string): string | null => readFile(at(home))

export function writeSeen(home: string, text: string | null): void {
  if (text !== null) return void writeIfPossible(at(home), text)
  try {
    rmSync(at(home), { force: true, recursive: true })
  } catch {
    // On a read-only disk nothing new is seen either.
  }
}
