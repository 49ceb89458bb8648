import { renameSync, rmSync } from 'node:fs'
import { FileTrouble, withFile, writeAll } from './file.ts'

/** A new file, the user's alone. What lies there already is never written to. */
export const createFile = (path: string, text: string | Uint8Array): void => withFile(path, 'create', (fd) => writeAll(fd, text))

/** A name of its own, then a rename: nobody ever reads half of it. Whatever lay there is replaced, but for a directory. */
export function replaceFile(path: string, text: string | Uint8Array): void {
  const temporary = `${path}.${process.pid}`
  try {
    createFile(temporary, text)
  } catch (error) {
    if (!(error instanceof FileTrouble) || error.code !== 'EEXIST') throw error
    // One who had our pid died while writing it, or somebody has put something there.
    rmSync(temporary, { force: true })
    createFile(temporary, text)
  }
  renameSync(temporary, path)
}
