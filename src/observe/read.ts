import { existsSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn, orNull, readIfFile } from '../lib/index.ts'

/** Files of git that name another path: far below this. */
const MOST_BYTES = 64 * 1024

/** What a small file says that anybody may have put there; null: it cannot be read. */
export const readRegular = (path: string): string | null => readIfFile(path, MOST_BYTES, 'followed')

/** The entries of a folder, as paths; none where it cannot be read. */
export const entriesOf = (folder: string): string[] => namesIn(folder).map((name) => join(folder, name))

/** The path without links; a path that leads nowhere stays as it is. */
export const realPathOf = (path: string): string => orNull(() => realpathSync(path)) ?? path

export const isThereAtAll = (path: string): boolean => existsSync(path)

/** When a file came into being, in milliseconds; null: it is not there, or nobody knows. */
export const birthOf = (path: string): number | null => orNull(() => statSync(path).birthtimeMs)
