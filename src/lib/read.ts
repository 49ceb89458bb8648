import { readdirSync, readFileSync } from 'node:fs'

/** The text of a file; null: it cannot be read. */
export const readText = (path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | null => orNull(() => readFileSync(path, encoding))

/** The names in a folder; none where it cannot be read. */
export const namesIn = (folder: string): string[] => orNull(() => readdirSync(folder)) ?? []

/** The answer of a call, or null where it throws. */
export function orNull<T>(call: () => T): T | null {
  try {
    return call()
  } catch {
    return null
  }
}
