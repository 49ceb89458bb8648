import { spawnSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { readKernelFile, writeKernelFile } from '../../lib/index.ts'
import { type Environment, frontPid, type Namespaces, policy } from '../../model/index.ts'

const NAMESPACES = ['net', 'mnt', 'user', 'pid', 'ipc', 'uts', 'cgroup', 'time']

/** `null`: it is at work, but cannot be seen from here, since its number is that of another pid namespace. */
export const namespacesOf = (pid: number | null): Namespaces =>
  Object.fromEntries(NAMESPACES.map((name) => [name, pid === null ? (name === 'pid' ? 'other' : 'unknown') : compared(pid, name)]))

/** A kernel that does not know one has only one; and who is gone is nowhere else. */
function compared(pid: number, name: string): Namespaces[string] {
  try {
    const ours = readlinkSync(`/proc/self/ns/${name}`)
    return readlinkSync(`/proc/${pid}/ns/${name}`) === ours ? 'same' : 'other'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'same' : 'unknown'
  }
}

/** As the kernel calls them, and `prlimit`. Without RTTIME: that is the marker. */
const LIMITS = {
  'cpu time': 'cpu',
  'file size': 'fsize',
  'data size': 'data',
  'stack size': 'stack',
  'core file size': 'core',
  'resident set': 'rss',
  processes: 'nproc',
  'open files': 'nofile',
  'locked memory': 'memlock',
  'address space': 'as',
  'file locks': 'locks',
  'pending signals': 'sigpending',
  'msgqueue size': 'msgqueue',
  'nice priority': 'nice',
  'realtime priority': 'rtprio',
}

/**
 * A pane's process has the limits of whoever came first to its server: it gets its own caller's. Answers what could not be given. The command
 * that waits for us is asked for them, since Node raises one of its own.
 */
export function giveLimits(pid: number, env: Environment): string[] {
  const caller = frontPid(env) === process.ppid ? process.ppid : process.pid
  const [wanted, given] = [limitsOf(caller), limitsOf(pid)]
  const lost = Object.entries(LIMITS).flatMap(([name, option]) => {
    const [want, have] = [wanted.get(name), given.get(name)]
    if (want === undefined || have === undefined || (want.soft === have.soft && want.hard === have.hard)) return []
    const set = (limit: string): boolean =>
      spawnSync('prlimit', ['--pid', String(pid), `--${option}=${limit}`], { timeout: policy.tmuxMs }).status === 0
    if (set(`${want.soft}:${want.hard}`)) return []
    set(`${lesser(want.soft, have.hard)}:`)
    return [`${name} ${want.soft} (${want.hard} at most)`]
  })
  return [...lost, ...giveRank(pid, caller)]
}

function limitsOf(pid: number): Map<string, { readonly soft: string; readonly hard: string }> {
  const lines = readKernelFile(`/proc/${pid}/limits`)
    .toString('latin1')
    .matchAll(/^Max (\S+(?: \S+)*)\s+(\d+|unlimited)\s+(\d+|unlimited)\s/gm)
  return new Map([...lines].map(([, name = '', soft = '', hard = '']) => [name, { soft, hard }]))
}

const lesser = (one: string, other: string): string => (other === 'unlimited' || (one !== 'unlimited' && Number(one) < Number(other)) ? one : other)

/** Its niceness, and how soon it is ended where memory runs out. */
function giveRank(pid: number, caller: number): string[] {
  const score = (of: number): string => readKernelFile(`/proc/${of}/oom_score_adj`).toString('latin1').trim()
  const steps: [string, () => void][] = [
    [`niceness ${getPriority(caller)}`, () => getPriority(pid) === getPriority(caller) || setPriority(pid, getPriority(caller))],
    [`oom_score_adj ${score(caller)}`, () => score(pid) === score(caller) || writeKernelFile(`/proc/${pid}/oom_score_adj`, score(caller))],
  ]
  return steps.flatMap(([name, step]) => {
    try {
      step()
      return []
    } catch (error) {
      if (!['EACCES', 'EPERM', 'ERR_SYSTEM_ERROR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
      return [name]
    }
  })
}
