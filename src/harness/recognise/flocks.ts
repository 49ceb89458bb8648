import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { orNull, readKernel, readKernelFile } from '../../lib/index.ts'
import type { Flock } from '../../model/index.ts'
import { INITIAL_PID_NAMESPACE, isSignallable } from '../../model/index.ts'

/** A process that holds a flock on a file right now: a lock file alone proves nothing. */
export type Flocker = {
  readonly process: { readonly pid: number; readonly ticks: number }
  readonly path: string
  readonly cwd: string
  readonly argv: readonly string[]
}

const MAX_HOLDERS = 500
const MAX_FILES = 4000

/** Who holds flocks on files of these below a folder. The kernel lists who holds any; each of them is asked which file that is. */
export function flockersOf(folder: string, name: RegExp, mayBeThere: (pid: number) => boolean): Flocker[] {
  // The kernel tells real paths.
  const real = orNull(() => realpathSync(folder))
  if (real === null) return []
  const isIts = (path: string): boolean => path.startsWith(`${real}/`) && name.test(path)
  const locks = readKernel('/proc/locks') ?? ''
  const pids = [...locks.matchAll(/^\d+: FLOCK +\w+ +WRITE (\d+) /gm)].map((match) => Number(match[1]))
  return [...new Set(pids)]
    .filter((pid) => isSignallable(pid) && mayBeThere(pid))
    .slice(0, MAX_HOLDERS)
    .flatMap((pid) => orNull(() => heldBy(pid, isIts)) ?? [])
}

/**
 * Whether anybody holds a flock on this file; `none`: there is no such file. The kernel lists locks by inode, of which only the number is
 * compared, since it calls some devices by other names than stat does; and those of other pid namespaces it shows only in the initial one.
 */
export function flockOf(path: string): Flock {
  const inode = orNull(() => lstatSync(path, { bigint: true }).ino)
  if (inode === null) return 'none'
  const locks = readKernel('/proc/locks')
  if (locks === null) return 'unknown'
  if ([...locks.matchAll(/^\d+: FLOCK .*:(\d+) \d+ \S+$/gm)].some((match) => match[1] === String(inode))) return 'held'
  return orNull(() => readlinkSync('/proc/self/ns/pid')) === INITIAL_PID_NAMESPACE ? 'free' : 'unknown'
}

/** Its identity is read before and after: in between another process cannot have taken its place. */
function heldBy(pid: number, isIts: (path: string) => boolean): Flocker[] {
  const ticks = ticksOf(pid)
  if (ticks === null) return []
  const held = readdirSync(`/proc/${pid}/fd`)
    .slice(0, MAX_FILES)
    .flatMap((fd) => orNull(() => ({ fd, path: readlinkSync(`/proc/${pid}/fd/${fd}`) })) ?? [])
    .filter(({ fd, path }) => isIts(path) && isFlocked(pid, fd))
  if (held.length === 0) return []
  const cwd = readlinkSync(`/proc/${pid}/cwd`)
  const argv = readKernelFile(`/proc/${pid}/cmdline`).toString('utf8').split('\0')
  return ticksOf(pid) === ticks ? held.map(({ path }) => ({ process: { pid, ticks }, path, cwd, argv })) : []
}

const isFlocked = (pid: number, fd: string): boolean => /^lock:\s.*\bFLOCK\s+\w+\s+WRITE\b/m.test(readKernel(`/proc/${pid}/fdinfo/${fd}`) ?? '')

/** When a process started, in ticks since the boot: the 22nd field, counted behind its name, which may have anything in it. */
export const ticksOf = (pid: number): number | null =>
  orNull(() => {
    const stat = readKernelFile(`/proc/${pid}/stat`).toString('utf8')
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
    return Number.isSafeInteger(ticks) && ticks > 0 ? ticks : null
  })
