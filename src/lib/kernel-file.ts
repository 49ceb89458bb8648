import { closeSync, constants, openSync, readFileSync, statfsSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { orNull } from './or-null.ts'

/** What the kernel itself shows as a file: nobody else can put anything there. */
const KERNEL = /^\/(?:proc|sys)\//
const CGROUP2_MAGIC = 0x63677270

/** Throws what the kernel says. */
export function readKernelFile(path: string): Buffer {
  if (!KERNEL.test(path)) throw new Error(`${path} is no file of the kernel's`)
  return readFileSync(path)
}

/** Null: it cannot be read. */
export const readKernel = (path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | null => orNull(() => readKernelFile(path).toString(encoding))

export function writeKernelFile(path: string, word: string): void {
  if (!KERNEL.test(path)) throw new Error(`${path} is no file of the kernel's`)
  writeFileSync(path, word)
}

/** A file of a cgroup, wherever that is mounted. Throws what the kernel says; ENOENT also where a folder only looks like a cgroup. */
export function readCgroupFile(cgroup: string, name: string): string {
  refuseOther(cgroup)
  return readFileSync(join(cgroup, name), 'latin1')
}

/** Only for writing: `cgroup.kill` cannot be read, not even by its owner. */
export function writeCgroupFile(cgroup: string, name: string, word: string): void {
  refuseOther(cgroup)
  const fd = openSync(join(cgroup, name), constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    writeSync(fd, word)
  } finally {
    closeSync(fd)
  }
}

/** An agent may have made a folder of that name, with a pipe in it, or the pids of others. */
function refuseOther(cgroup: string): void {
  if (statfsSync(cgroup).type !== CGROUP2_MAGIC) throw Object.assign(new Error(`${cgroup} is no cgroup`), { code: 'ENOENT' })
}
