import { accessSync, constants, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { orNull, readCgroupFile, readKernel } from '../lib/index.ts'
import type { CgroupBase, Cgroups, CgroupView } from '../model/index.ts'
import { CGROUP_PREFIX } from '../model/index.ts'

/** cgroup v2 through plain files. */
export const linuxCgroups: Cgroups = { base, view, cpuMs, list, nameOf }

/** Our own cgroup, or the one around the outermost run that we are in. */
function base(): CgroupBase {
  const own = ownPath()
  if (own === null) return none('the kernel shows no cgroup v2 here')
  if (own.split('/').includes('..')) return none('our own cgroup lies outside of what is mounted here')
  const mounted = mountOf(own)
  if (mounted === null) return none('no cgroup v2 file system is mounted here')
  const parts = own.split('/')
  const ours = parts.findIndex((part) => part.startsWith(CGROUP_PREFIX))
  const path = join(mounted.point, (ours < 0 ? parts : parts.slice(0, ours)).join('/').slice(mounted.root.length))
  const mount = mounted.root === '' ? mounted.point : null
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    accessSync(join(path, 'cgroup.procs'), constants.W_OK)
  } catch (error) {
    return none(`the cgroup ${path} is not ours to write (${(error as NodeJS.ErrnoException).code})`, mount)
  }
  // Below a threaded cgroup there is no place for whole processes.
  const type = readOr(path, 'cgroup.type')
  if (type.includes('invalid') || type === 'threaded') return none(`the cgroup ${path} is of type "${type}"`, mount)
  return { kind: 'base', path, inside: ours >= 0 }
}

const none = (why: string, mount: string | null = null): CgroupBase => ({ kind: 'none', why, mount })

const ownPath = (): string | null => /^0::(\/.*)$/m.exec(readKernel('/proc/self/cgroup') ?? '')?.[1]?.replace(/\/$/, '') ?? null

/** The last mount that shows our cgroup: also one at `unified`, beside the hierarchies of version 1. */
function mountOf(path: string): { root: string; point: string } | null {
  let found: { root: string; point: string } | null = null
  for (const line of (readKernel('/proc/self/mountinfo') ?? '').split('\n')) {
    const [before = '', after = ''] = line.split(' - ')
    if (!after.startsWith('cgroup2 ')) continue
    const [, , , mountRoot = '', point = ''] = before.split(' ')
    const root = mountRoot.replace(/\/$/, '')
    if ((path === root || path.startsWith(`${root}/`)) && isVisible(point)) found = { root, point }
  }
  return found
}

/** Another file system may lie over it. */
function isVisible(point: string): boolean {
  try {
    accessSync(join(point, 'cgroup.procs'), constants.R_OK)
    return true
  } catch {
    return false
  }
}

const readOr = (path: string, name: string): string => (orNull(() => readCgroupFile(path, name)) ?? '').trim()

function view(path: string): CgroupView {
  const pids = new Set<number>()
  try {
    collect(path, pids)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    return code === 'ENOENT' || code === 'ENODEV' ? { kind: 'absent' } : { kind: 'unreadable', why: `its cgroup ${path} could not be read: ${code}` }
  }
  const hidden = pids.delete(0)
  return { kind: 'present', pids, hidden }
}

/** A pid of 0 stands for whom this pid namespace does not see. What is below may vanish while we look; the cgroup itself may not. */
function collect(path: string, pids: Set<number>, below = false): void {
  try {
    for (const pid of pidsIn(path)) pids.add(pid)
    for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) collect(join(path, entry.name), pids, true)
  } catch (error) {
    if (!below || !['ENOENT', 'ENODEV'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** A threaded cgroup does not tell its processes, only their threads. One that has just ended is nobody. */
function pidsIn(path: string): number[] {
  try {
    return numbersIn(readCgroupFile(path, 'cgroup.procs'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTSUP') throw error
    return numbersIn(readCgroupFile(path, 'cgroup.threads')).flatMap((thread) => {
      const pid = /^Tgid:\s+(\d+)$/m.exec(readKernel(`/proc/${thread}/status`) ?? '')?.[1]
      return pid === undefined ? [] : [Number(pid)]
    })
  }
}

const numbersIn = (text: string): number[] => text.split('\n').flatMap((line) => (line === '' ? [] : [Number(line)]))

function nameOf(pid: number): string | null {
  const path = /^0::(\/.*)$/m.exec(readKernel(`/proc/${pid}/cgroup`) ?? '')?.[1] ?? ''
  return path.split('/').findLast((part) => part.startsWith(CGROUP_PREFIX)) ?? null
}

/** What all that ever lived in it has burned. */
function cpuMs(path: string): number | null {
  const usec = /^usage_usec (\d+)$/m.exec(readOr(path, 'cpu.stat'))?.[1]
  return usec === undefined ? null : Math.round(Number(usec) / 1000)
}

function list(path: string, stem: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name.startsWith(stem))
      .map((entry) => join(path, entry.name))
  } catch {
    return []
  }
}
