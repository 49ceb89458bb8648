import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Problem } from '../../model/index.ts'
import { writeAtomically } from '../run-files/atomic.ts'

/** Null: there is none. */
export function readServiceFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Problem('service-file-unusable', `${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error })
  }
}

export function writeServiceFile(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeAtomically(path, text)
  } catch (error) {
    throw new Problem('service-file-unusable', `${path} cannot be written (${(error as NodeJS.ErrnoException).code})`, { cause: error })
  }
}

export const removeServiceFile = (path: string): void => rmSync(path, { force: true })
