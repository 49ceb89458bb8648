import { appendFileSync, existsSync, lstatSync, renameSync, writeFileSync } from 'node:fs'
import { readText } from '../../lib/index.ts'

/** A name of its own, then a rename: nobody ever reads half of it. */
export function writeAtomically(path: string, text: string): void {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, text, { mode: 0o600 })
  renameSync(temporary, path)
}

/** False: a full disk, or no directory any more. */
export function writeIfPossible(path: string, text: string): boolean {
  try {
    writeAtomically(path, text)
    return true
  } catch {
    return false
  }
}

/** Nothing that others have written is ever lost by it; on a full disk, what was to be added is. */
export function appendIfPossible(path: string, text: string): void {
  try {
    appendFileSync(path, text, { mode: 0o600 })
  } catch {
    // Whoever reads it does without.
  }
}

/** For what is rarely there: what is thrown for each that is not takes ten times as long as looking first. */
export const readIfThere = (path: string): string | null => (existsSync(path) ? readOr(path) : null)

export const readOr = (path: string): string | null => readText(path)

/** False: there is no such file for certain. */
export function mayExist(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code !== 'ENOENT' && code !== 'ENOTDIR'
  }
}
