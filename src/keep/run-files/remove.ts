import { lstatSync, rmSync, unlinkSync } from 'node:fs'

/** Whatever lies there, if anything does. A file is not left to Node's `rm`, which in version 24 tells no code of some errors (EROFS). */
export function remove(path: string): void {
  try {
    if (lstatSync(path).isDirectory()) rmSync(path, { force: true, recursive: true })
    else unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Somebody may have made a file of it immutable, or a folder in it unreadable: that is no trouble of others. */
export function removeWhole(folder: string): string | null {
  try {
    rmSync(folder, { recursive: true, force: true })
    return null
  } catch {
    return 'not all of it can be removed: look at it with lsattr and ls -la'
  }
}
