import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { orNull } from '../../lib/index.ts'
import { fieldsOf } from './disk.ts'

const VERSION = /^(\d+\.\d+\.\d+(?:[-+.][\w.+-]+)?)$/
/** How far above an executable its package may begin. */
const MAX_ABOVE = 5

/**
 * The version of an agent by where its executable lies: its npm package, or a folder that has the version for a name. Nothing is executed: a
 * program of that name on PATH may be anybody's script. Null: the place does not tell.
 */
export function versionAt(executable: string): string | null {
  const path = orNull(() => realpathSync(executable))
  if (path === null) return null
  for (let folder = dirname(path), steps = 0; folder.includes('/node_modules/') && steps < MAX_ABOVE; folder = dirname(folder), steps++) {
    const version = versionIn(fieldsOf(join(folder, 'package.json'))?.['version'])
    if (version !== null) return version
  }
  for (let place = path, steps = 0; place !== '/' && steps < MAX_ABOVE; place = dirname(place), steps++) {
    const version = versionIn(basename(place))
    if (version !== null) return version
  }
  return null
}

const versionIn = (text: unknown): string | null => (typeof text === 'string' ? (VERSION.exec(text)?.[1] ?? null) : null)
