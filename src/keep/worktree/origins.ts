import { mkdirSync, rmSync } from 'node:fs'
import { basename, isAbsolute, join } from 'node:path'
import { namesIn, orNull, readIfFile, replaceFile } from '../../lib/index.ts'
import { policy, type WorktreeOrigin, type WorktreeOrigins } from '../../model/index.ts'

const SUFFIX = '.json'

/** A small file for each worktree that was ever made of us, outside of it: it tells how one that is gone can be made again. */
export function originFiles(folder: string): WorktreeOrigins {
  const fileOf = (path: string): string => join(folder, `${basename(path)}${SUFFIX}`)
  return {
    origin(path: string): WorktreeOrigin | null {
      const text = readIfFile(fileOf(path), policy.smallFileBytes, 'refused')
      const read = text === null ? null : parsed(text)
      return read === null || read.path !== path ? null : read
    },
    recordOrigin(origin: WorktreeOrigin): void {
      orNull(() => {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        replaceFile(fileOf(origin.path), `${JSON.stringify(origin)}\n`)
      })
    },
    origins: (): string[] => namesIn(folder).flatMap((name) => (name.endsWith(SUFFIX) ? [name.slice(0, -SUFFIX.length)] : [])),
    forgetOrigin: (path: string): void => rmSync(fileOf(path), { force: true }),
  }
}

function parsed(text: string): WorktreeOrigin | null {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    return null
  }
  const { path, repository, branch } = (read ?? {}) as Record<string, unknown>
  if (typeof path !== 'string' || typeof repository !== 'string' || typeof branch !== 'string') return null
  return isAbsolute(repository) ? { path, repository, branch } : null
}
