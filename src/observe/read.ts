import { accessSync, constants, existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** What a file says; null: it cannot be read. */
export const readOr = (path: string): string | null => orNull(() => readFileSync(path, 'utf8'))

/** The same of files that anybody may have put there: a pipe would never come to an end. */
export const readRegular = (path: string): string | null => orNull(() => (statSync(path).isFile() ? readFileSync(path, 'utf8') : null))

/** The entries of a folder, as paths; none where it cannot be read. */
export const entriesOf = (folder: string): string[] => (orNull(() => readdirSync(folder)) ?? []).map((name) => join(folder, name))

/** The path without links; a path that leads nowhere stays as it is. */
export const realPathOf = (path: string): string => orNull(() => realpathSync(path)) ?? path

export const isThereAtAll = (path: string): boolean => existsSync(path)

function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

/** Where a shell that works in `dir` finds a program, which is an executable file; null: nowhere. */
export function findProgram(name: string, dir: string, path = ''): string | null {
  const places = name.includes('/') ? [resolve(dir, name)] : path.split(':').map((folder) => resolve(dir, folder || '.', name))
  return places.find(isProgram) ?? null
}

const isProgram = (path: string): boolean =>
  orNull(() => {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  }) ?? false

/** When a file came into being, in milliseconds; null: it is not there, or nobody knows. */
export const birthOf = (path: string): number | null => orNull(() => statSync(path).birthtimeMs)
