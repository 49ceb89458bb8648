import { randomUUID } from 'node:crypto'
import { linkSync, renameSync, unlinkSync } from 'node:fs'
import type { ForeignFiles } from '../model/index.ts'

/** Files of other programs, as far as they may be removed. */
export const foreignFiles: ForeignFiles = {
  aside: (path) => `${path}.holdfast-${randomUUID()}`,
  rename: (from, to) => attempt(() => renameSync(from, to)),
  link: (from, to) => attempt(() => linkSync(from, to)),
  remove: (path) => attempt(() => unlinkSync(path)),
}

function attempt(action: () => void): string | null {
  try {
    action()
    return null
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}
