import { mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeCgroupFile } from '../../lib/index.ts'
import type { Containers } from '../../model/index.ts'

/** Makes, empties and removes cgroups, with nothing but files. Never more than a level of ours and what agents made below it. */
export const cgroupContainers: Containers = {
  make,
  admit: (path, pid) => told(path, 'cgroup.procs', String(pid)),
  freeze: (path) => told(path, 'cgroup.freeze', '1'),
  thaw: (path) => told(path, 'cgroup.freeze', '0'),
  // All at once, whoever is being born included. Kernels before 5.14 cannot.
  kill: (path) => told(path, 'cgroup.kill', '1'),
  remove,
}

/** Null, or why not. One left by a crash is taken as it is. */
function make(path: string): string | null {
  try {
    mkdirSync(path, { mode: 0o755 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') return `${path} could not be made (${codeOf(error)})`
  }
  return null
}

function told(path: string, file: string, word: string): boolean {
  try {
    writeCgroupFile(path, file, word)
    return true
  } catch {
    return false
  }
}

/** Only what is empty can be removed, so this cannot take anything from anybody. */
function remove(path: string): boolean {
  try {
    for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) remove(join(path, entry.name))
    rmdirSync(path)
    return true
  } catch (error) {
    return codeOf(error) === 'ENOENT'
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)
