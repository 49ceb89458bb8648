import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn, orNull, readText } from '../lib/index.ts'

/** What a file says; null: it cannot be read. */
export const readOr = (path: string): string | null => readText(path)

/** The same of files that anybody may have put there: a pipe would never come to an end. */
export const readRegular = (path: string): string | null => orNull(() => (statSync(path).isFile() ? readFileSync(path, 'utf8') : null))

/** The entries of a folder, as paths; none where it cannot be read. */
export const entriesOf = (folder: string): string[] => namesIn(folder).map((name) => join(folder, name))

/** The path without links; a path that leads nowhere stays as it is. */
export const realPathOf = (path: string): string => orNull(() => realpathSync(path)) ?? path

export const isThereAtAll = (path: string): boolean => existsSync(path)

/** When a file came into being, in milliseconds; null: it is not there, or nobody knows. */
export const birthOf = (path: string): number | null => orNull(() => statSync(path).birthtimeMs)
