import { fstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bytesAt as bytesFrom, orNull, withFile as withAnyFile } from '../../lib/index.ts'
import type { Environment } from '../../model/index.ts'

/** Folders hold one entry a session or a day; more of them are not looked at. */
const MAX_ENTRIES = 10_000

/** Does something with an open file of a known size; null: it is none, or cannot be read. */
export const withFile = <T>(path: string, use: (fd: number, size: number) => T): T | null =>
  orNull(() => withAnyFile(path, 'read', (fd) => use(fd, fstatSync(fd).size), 'followed'))

/** The bytes of a file from one place up to another; fewer if it ends before. */
export const bytesAt = (fd: number, from: number, to: number): Buffer => bytesFrom(fd, from, to - from)

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
