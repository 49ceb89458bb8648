import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import type { Directory } from '../model/index.ts'
import { Problem } from '../model/index.ts'

/** A directory by its real path, device and inode. */
export function findDirectory(path: string): Directory {
  try {
    const real = realpathSync.native(path)
    const stat = statSync(real, { bigint: true })
    if (!stat.isDirectory()) throw new Problem('noSuchSession', `${path} is not a directory`)
    accessSync(real, constants.X_OK)
    return { path: real, device: String(stat.dev), inode: String(stat.ino) }
  } catch (error) {
    if (error instanceof Problem) throw error
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new Problem('noSuchSession', `no such directory: ${path}`, { cause: error })
    throw new Problem('noSuchSession', `directory ${path} cannot be entered: ${code}`, { cause: error })
  }
}
