import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'

/** Where a program, which is an executable file, is found on a PATH; null: nowhere. */
export function findProgram(name: string, path = process.env['PATH']): string | null {
  for (const folder of (path ?? '').split(':')) {
    const place = join(folder === '' ? '.' : folder, name)
    try {
      accessSync(place, constants.X_OK)
      if (statSync(place).isFile()) return place
    } catch {
      // Not in this one.
    }
  }
  return null
}
