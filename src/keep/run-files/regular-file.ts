import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/**
 * Works with a file that is one. Anything may lie in its place: a pipe would keep us waiting for its other end, and a device never comes to
 * one. Null: it is no file, or cannot be opened.
 */
export function withFile<T>(path: string, flags: 'read' | 'append', work: (fd: number) => T): T | null {
  let fd: number | null = null
  try {
    fd = openSync(path, FLAGS[flags] | constants.O_NONBLOCK, 0o600)
    return fstatSync(fd).isFile() ? work(fd) : null
  } catch {
    return null
  } finally {
    if (fd !== null) closeSync(fd)
  }
}

const FLAGS = { read: constants.O_RDONLY, append: constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT }

export const readFile = (path: string): string | null => withFile(path, 'read', (fd) => readFileSync(fd, 'utf8'))
