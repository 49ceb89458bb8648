import { judge, presenceOf } from '../../decide/index.ts'
import { daemonFiles, daemonFilesHere } from '../../keep/index.ts'
import type { DaemonFiles, DaemonPresence, DaemonRecord, ProcessId } from '../../model/index.ts'
import { Problem, policy } from '../../model/index.ts'
import { type Alone, lookAlone, takeAlone } from '../../record/index.ts'
import { withFailpoints } from '../world/failpoints.ts'
import type { World } from '../world/world.ts'

/** Where the daemon of a home is, whoever asks: its files, and the lock that only one can hold. */
export type DaemonPlace = {
  readonly files: DaemonFiles
  /** The same files for the daemon itself, which stands among them: wherever its home is moved to. */
  here(): DaemonFiles
  /** Null: another process has it, for now. */
  take(): Alone | null
  presence(): DaemonPresence
  /** For who holds the lock: a daemon that lives all the same, since its lock file was taken away from under it. */
  lockless(): DaemonRecord | null
}

export function daemonPlace({ home, processes, connections }: Pick<World, 'home' | 'processes' | 'connections'>): DaemonPlace {
  const files = withFailpoints('daemon', daemonFiles(home))
  const hasLockFileOpen = ({ place, process: daemon }: DaemonRecord): boolean =>
    judge(processes, place, daemon).kind === 'alive' && connections.hasOpen(daemon.pid, files.lock)
  return {
    files,
    here: () => withFailpoints('daemon', daemonFilesHere()),
    take() {
      files.make()
      return takeAlone(files.lock)
    },
    lockless() {
      const record = files.record()
      return record !== null && hasLockFileOpen(record) ? record : null
    },
    presence() {
      const lock = lookAlone(files.lock)
      const record = files.record()
      const fact = record === null ? null : judge(processes, record.place, record.process)
      const holder = lock === 'held' ? born(processes, connections, connections.lockHolder(files.lock)) : null
      return presenceOf({ lock, holder, record, fact, hasLockFileOpen: record !== null && hasLockFileOpen(record), remains: files.remains() })
    },
  }
}

/** Such as a full disk, one that cannot be written, or something else in the place of a file. What is no fault of the world stays what it is. */
export function folderProblem({ files }: DaemonPlace, error: unknown): unknown {
  const { code, path } = error as NodeJS.ErrnoException
  if (error instanceof Problem || code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error
  return new Problem('daemon-folder-unusable', `the daemon's folder cannot be used: ${path ?? files.folder}: ${code}`, {
    hint: 'free space, make the home writable and your own, or move away what lies there',
    cause: error,
  })
}

/** One of another pid namespace has another name on its own record, and is not ours to judge, although we can see it. */
function born(processes: World['processes'], connections: World['connections'], pid: number | null): ProcessId | null {
  const seen = pid === null || !connections.livesIn(pid, processes.here().pidNamespace) ? null : processes.sample(pid)
  return seen?.kind === 'seen' ? { pid: seen.row.pid, ticks: seen.row.ticks } : null
}

/** Removes what a dead daemon left, and says so, here and in its log. Whoever gets the lock does it, so nobody who lives loses anything. */
export function repair(place: DaemonPlace, now: number): readonly string[] {
  const alone = place.take()
  if (alone === null) return []
  try {
    return clearRemains(place, now)
  } finally {
    alone.release()
  }
}

/** For who holds the lock. One that still lives without its lock file keeps what is its own. */
export function clearRemains({ files, lockless }: DaemonPlace, now: number): readonly string[] {
  const remains = files.remains()
  if (remains.length === 0 || lockless() !== null) return []
  const words = remainsText(files, remains)
  files.tell(words, now)
  files.clear()
  return [words]
}

function remainsText(files: DaemonFiles, remains: readonly string[]): string {
  return `${whoLeft(files)}; removed what it left: ${remains.join(', ')}`
}

function whoLeft(files: DaemonFiles): string {
  const record = files.record()
  if (record === null) return 'a daemon left no record that makes sense'
  const how = hasLastWord(files, record) ? 'is gone (its log says why)' : 'ended without a word (killed, or the machine went down)'
  return `the daemon with pid ${record.process.pid} ${how}`
}

/** Each line of the log has its time, who says it, and what. */
const hasLastWord = (files: DaemonFiles, { process: { pid }, startedAt }: DaemonRecord): boolean =>
  files
    .lastWords(policy.daemonLinesHeld, 0)
    .split('\n')
    .map((line) => line.split(' '))
    .some(([at = '', who, what]) => Date.parse(at) >= startedAt && who === String(pid) && what === 'ended:')
