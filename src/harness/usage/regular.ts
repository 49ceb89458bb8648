import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../model/index.ts'

/** Folders hold one entry a session or a day; more of them are not looked at. */
const MAX_ENTRIES = 10_000

/** Does something with an open file of a known size; null: it is none, or cannot be read. */
export function withFile<T>(path: string, use: (fd: number, size: number) => T): T | null {
  const fd = openRegular(path)
  if (fd === null) return null
  try {
    return use(fd, fstatSync(fd).size)
  } catch {
    return null
  } finally {
    closeSync(fd)
  }
}

/** Only a regular file is opened, and without waiting, should it have become a pipe meanwhile. What lies in /proc only looks like one. */
function openRegular(path: string): number | null {
  try {
    const real = realpathSync.native(path)
    if (/^\/(?:proc|dev|sys)\//.test(real) || !statSync(real).isFile()) return null
    const fd = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY)
    if (fstatSync(fd).isFile()) return fd
    closeSync(fd)
    return null
  } catch {
    return null
  }
}

/** The bytes of a file from one place up to another; fewer if it ends before. */
export function bytesAt(fd: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, to - from))
  let filled = 0
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, from + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

/** The entries of a folder whose name fits, as paths; none where it cannot be read. */
export function entriesLike(folder: string, fits: (name: string) => boolean): string[] {
  try {
    return readdirSync(folder)
      .filter(fits)
      .slice(0, MAX_ENTRIES)
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}

export const anything = (): boolean => true
export const endsIn =
  (end: string) =>
  (name: string): boolean =>
    name.endsWith(end)

export { isFile } from '../recognise/disk.ts'

/** An id is part of a path only if it can be no other part of one. */
export const isName = (id: string): boolean => /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(id)

/** A folder of the user's, unless a variable says where. */
export const folderOf = (env: Environment, variable: string | null, ...below: readonly string[]): string =>
  (variable !== null && env[variable]) || join(env['HOME'] || '/nonexistent', ...below)
