import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { orNull } from './or-null.ts'

/** The executable file that a shell in `dir` finds for a name; null: none. */
export function findProgram(name: string, dir: string, path = ''): string | null {
  const places = name.includes('/') ? [resolve(dir, name)] : path.split(':').map((folder) => resolve(dir, folder || '.', name))
  return places.find(isProgram) ?? null
}

const isProgram = (path: string): boolean =>
  orNull(() => {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  }) ?? false
