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
