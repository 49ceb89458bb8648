import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { readKernelFile } from '../lib/index.ts'

/** The process that has locked a file, as the kernel tells it; null: nobody, or nobody of this pid namespace. */
export function lockHolder(path: string): number | null {
  const inode = String(lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? '')
  // The device is left out: some file systems show another one to us than to the kernel's own list.
  for (const [, kind, , mode, pid = '', file = ''] of linesOf('/proc/locks')) {
    const isIt = kind === 'POSIX' && mode === 'WRITE' && inode !== '' && file.split(':')[2] === inode
    if (isIt && hasOpen(Number(pid), path)) return Number(pid)
  }
  return null
}

/** Does it have the file open that lies there, or one that lay there? False too where we may not look. */
export function hasOpen(pid: number, path: string): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some((fd) => [path, `${path} (deleted)`].includes(linkAt(join(folder, fd))))
  } catch {
    return false
  }
}

function linesOf(path: string): string[][] {
  try {
    return readKernelFile(path)
      .toString('latin1')
      .split('\n')
      .map((line) => line.split(/\s+/))
  } catch {
    return []
  }
}

function linkAt(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
