import { existsSync, lstatSync } from 'node:fs'
import { readIfFile, replaceFile, withFile, writeAll } from '../../lib/index.ts'

/** False: a full disk, or no directory any more. */
export function writeIfPossible(path: string, text: string): boolean {
  try {
    replaceFile(path, text)
    return true
  } catch {
    return false
  }
}

/** Nothing that others have written is ever lost by it; on a full disk, what was to be added is. */
export function appendIfPossible(path: string, text: string): boolean {
  try {
    withFile(path, 'append', (fd) => writeAll(fd, text))
    return true
  } catch {
    // Whoever reads it does without.
    return false
  }
}

/** For what is rarely there: what is thrown for each that is not takes ten times as long as looking first. */
export const readIfThere = (path: string, most: number): string | null => (existsSync(path) ? readIfFile(path, most) : null)

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
