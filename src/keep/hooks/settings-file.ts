import { chmodSync, chownSync, closeSync, fsyncSync, mkdirSync, readlinkSync, renameSync, rmdirSync, rmSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { FileTrouble, openFile, readBytes, writeAll } from '../../lib/index.ts'
import { policy } from '../../model/index.ts'

const MAX_LINKS = 40

/** Another program's settings file: its text; null, it is not there; `trouble`, why nothing in it can be changed: no file, too large, no UTF-8. */
export type SettingsFile = { readonly text: string } | { readonly trouble: string } | null

export function readSettings(path: string): SettingsFile {
  try {
    const bytes = readBytes(path, policy.settingsBytes, 'followed')
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch (error) {
    if (error instanceof TypeError) return { trouble: 'it is no UTF-8 text' }
    if (!(error instanceof FileTrouble)) throw error
    if (error.code === 'ENOENT') return null
    if (error.code === 'ENOTFILE' || error.code === 'EFBIG') return { trouble: `it ${error.why}` }
    throw error
  }
}

/**
 * Writes it in one step, unless it is no longer as it was seen (null). A link to it stays one, and what it leads to keeps its mode and
 * owner; a new file is the user's alone. Answers which folders had to be made, the outermost first.
 */
export function writeSettings(path: string, text: string, seen: SettingsFile): readonly string[] | null {
  const target = targetOf(path)
  const made = makeFolders(dirname(target))
  const temporary = `${target}.holdfast-${process.pid}`
  let done = false
  try {
    writeWhole(temporary, text)
    const old = statOr(target)
    if (old !== null) takeAfter(temporary, old)
    if (!sameFile(readSettings(target), seen)) return null
    renameSync(temporary, target)
    done = true
    return made
  } finally {
    if (!done) {
      rmSync(temporary, { force: true })
      removeFolders(made)
    }
  }
}

/** Removes the file, and those folders that are empty then. A link to it was there before us, and stays. */
export function removeSettings(path: string, folders: readonly string[]): void {
  rmSync(targetOf(path), { force: true })
  removeFolders(folders)
}

function writeWhole(path: string, text: string): void {
  rmSync(path, { force: true })
  const fd = openFile(path, 'create')
  try {
    writeAll(fd, text)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function takeAfter(path: string, old: Stats): void {
  const mine = statSync(path)
  if (mine.uid !== old.uid || mine.gid !== old.gid) chownSync(path, old.uid, old.gid)
  chmodSync(path, old.mode & 0o7777)
}

const sameFile = (a: SettingsFile, b: SettingsFile): boolean =>
  a === b || (a !== null && b !== null && 'text' in a && 'text' in b && a.text === b.text)

/** Where its links lead, also when nothing is there yet. */
function targetOf(path: string): string {
  let target = path
  for (let hop = 0; hop < MAX_LINKS; hop++)
    try {
      target = resolve(dirname(target), readlinkSync(target))
    } catch {
      return target
    }
  return target
}

function makeFolders(folder: string): string[] {
  if (statOr(folder) !== null) return []
  const made = makeFolders(dirname(folder))
  mkdirSync(folder, { mode: 0o700 })
  return [...made, folder]
}

function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed())
    try {
      rmdirSync(folder)
    } catch {
      // Somebody has put something into it, or removed it.
      return
    }
}

function statOr(path: string): Stats | null {
  try {
    return statSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
