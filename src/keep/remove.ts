import { lstatSync, rmSync, unlinkSync } from 'node:fs'

/** Whatever lies there, if anything does. A file is not left to Node's `rm`, which in version 24 tells no code of some errors (EROFS). */
export function remove(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return rmSync(path, { force: true, recursive: true })
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
