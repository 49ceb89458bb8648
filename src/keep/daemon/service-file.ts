import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { readFile, replaceFile, wordsOf } from '../../lib/index.ts'
import { Problem, policy } from '../../model/index.ts'

/** Null: there is none. */
export function readServiceFile(path: string): string | null {
  try {
    return readFile(path, policy.smallFileBytes, 'followed')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Problem('service-file-unusable', `${path} cannot be read: ${wordsOf(error)}`, { cause: error })
  }
}

export function writeServiceFile(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    replaceFile(path, text)
  } catch (error) {
    throw new Problem('service-file-unusable', `${path} cannot be written: ${wordsOf(error)}`, { cause: error })
  }
}

export const removeServiceFile = (path: string): void => rmSync(path, { force: true })
