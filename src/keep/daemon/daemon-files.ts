import { chmodSync, fstatSync, lstatSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bytesAt, namesIn, orNull, otherThanFile, readIfFile, replaceFile, withFile } from '../../lib/index.ts'
import type { DaemonFiles, DaemonHealth, DaemonRecord } from '../../model/index.ts'
import { isPid, Problem, plainParagraph, policy } from '../../model/index.ts'
import { notifiedIn } from '../notify/notify-progress.ts'
import { appendIfPossible, writeIfPossible } from '../run-files/atomic.ts'
import { capLog, sizeOf } from '../run-files/log.ts'
import { remove } from '../run-files/remove.ts'

/** All of it derives from the home: no variable of a caller can make two of it. */
export const daemonFiles = (home: string): DaemonFiles => filesIn(join(home, 'daemon'))

/** The same, for who stands in that folder: wherever it was moved to since. */
export const daemonFilesHere = (): DaemonFiles => filesIn('.')

function filesIn(folder: string): DaemonFiles {
  const record = join(folder, 'daemon.json')
  const health = join(folder, 'health.json')
  const log = join(folder, 'log')
  const port = join(folder, 'port')
  const notified = join(folder, 'notified')
  const litter = (): ReturnType<DaemonFiles['litter']> => namesIn(folder).flatMap(litterOf).slice(0, policy.pruneBatch)
  const remains = (): readonly string[] => namesIn(folder).filter((name) => REMAINS.test(name))
  return {
    folder,
    lock: join(folder, 'lock.db'),
    socket: join(folder, 'sock'),
    log,
    make() {
      makeFolder(folder)
      clearWay(log)
    },
    identity: () => identityOf(folder),
    record: () => recordIn(read(record)),
    writeRecord(entry) {
      clearFolder(record)
      replaceFile(record, `${JSON.stringify(entry)}\n`)
    },
    removeRecord() {
      for (const path of [health, record]) remove(path)
    },
    health: () => healthIn(read(health)),
    writeHealth: (entry) => writeIfPossible(health, `${JSON.stringify(entry)}\n`),
    port: () => portIn(read(port)),
    keepPort: (number) => writeIfPossible(port, `${number}\n`),
    notified: () => notifiedIn(parsed(read(notified))),
    writeNotified: (entry) => replaceFile(notified, `${JSON.stringify(entry)}\n`),
    tell: (line, at) => append(log, `${new Date(at).toISOString()} ${process.pid} ${plainParagraph(line.trimEnd())}\n`),
    mendLog: () => clearWay(log),
    logTrouble: () => otherThanFile(log, Number.POSITIVE_INFINITY),
    capLog: () => capLog(log),
    logSize: () => sizeOf(log),
    lastWords: (lines, after) => tailOf(log, after).split('\n').filter(Boolean).slice(-lines).join('\n'),
    isLog: (fd) => isSame(fd, log),
    remains,
    clear() {
      for (const name of ['health.json', ...remains(), ...litter().map((left) => left.name)]) remove(join(folder, name))
    },
    litter,
    removeLitter(name) {
      if (litterOf(name).length > 0) remove(join(folder, name))
    },
  }
}

/** The record, the socket, and what was half written when its writer died. */
const REMAINS = /^(?:daemon\.json(?:\.\d+)?|health\.json\.\d+|sock(?:\.\d+)*)$/

/** What else is called by the pid of its writer until it is whole, and what lay in the place of a file of ours. */
const HALF_WRITTEN = /^(?:token|notified|port)\.(\d+)(?:\.[0-9a-f-]{36})?$/
const ASIDE = /^(?:daemon\.json|health\.json|log|sock|lock\.db)\.aside-\w+$/

function litterOf(name: string): { readonly name: string; readonly writer: number | null }[] {
  const writer = HALF_WRITTEN.exec(name)?.[1]
  return writer !== undefined || ASIDE.test(name) ? [{ name, writer: writer === undefined ? null : Number(writer) }] : []
}

function portIn(text: string | null): number {
  const port = Number(text?.trim())
  return Number.isInteger(port) && port >= 1024 && port <= 65_535 ? port : 0
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw folderTrouble(folder, error)
  }
  const known = lstatSync(folder, { throwIfNoEntry: false })
  if (known?.isDirectory() !== true) throw folderTrouble(folder, 'it is not a folder')
  const uid = process.geteuid?.() ?? known.uid
  if (known.uid !== uid) throw folderTrouble(folder, `it belongs to uid ${known.uid}, and you are uid ${uid}`)
  try {
    if ((known.mode & 0o077) !== 0) chmodSync(folder, 0o700)
  } catch (error) {
    throw folderTrouble(folder, error)
  }
}

const folderTrouble = (folder: string, why: unknown): Problem =>
  new Problem(
    'daemon-folder-unusable',
    `the daemon's folder ${folder} cannot be made, or made private: ${(why as NodeJS.ErrnoException).code ?? String(why)}`,
    {
      hint: 'free space, make the home writable and your own, or move away what lies there',
      cause: why,
    },
  )

function identityOf(folder: string): string | null {
  const known = statSync(folder, { bigint: true, throwIfNoEntry: false })
  return known === undefined ? null : `${known.dev}:${known.ino}`
}

/** Written by a program of ours, but anything may lie there: empty, "0", half of it, a folder. */
function recordIn(text: string | null): DaemonRecord | null {
  const read = parsed(text) as DaemonRecord | null
  const isWhole =
    read?.format === 1 &&
    // Of a container's own pid namespace it may well be the first.
    isPid(read.process?.pid) &&
    Number.isInteger(read.process.ticks) &&
    [read.place?.install, read.place?.machine, read.place?.boot, read.place?.pidNamespace, read.place?.timeNamespace].every(isText) &&
    [read.version, read.socket, read.startedBy].every(isText) &&
    [read.protocol, read.startedAt].every(Number.isFinite)
  return isWhole ? read : null
}

function healthIn(text: string | null): DaemonHealth | null {
  const read = parsed(text) as DaemonHealth | null
  return Number.isFinite(read?.at) && typeof read?.healthy === 'boolean' && Array.isArray(read.parts) ? read : null
}

const isText = (value: unknown): boolean => typeof value === 'string'

function parsed(text: string | null): unknown {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** A folder in the place of a file is moved aside: what is renamed over it would fail. */
function clearFolder(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) renameSync(path, `${path}.aside-${process.pid}`)
}

/** Who is to write there would wait for the other end of a pipe; and where a link leads, nothing is ours to write to, or to cap. */
function clearWay(path: string): string | null {
  const known = lstatSync(path, { throwIfNoEntry: false })
  if (known === undefined || known.isFile() || known.isDirectory()) return null
  renameSync(path, `${path}.aside-${process.pid}`)
  return `${path}.aside-${process.pid}`
}

/** Opened anew for each line: the file may be moved away. One write a line, so that lines of several writers do not mix. */
const append = (path: string, text: string): boolean => appendIfPossible(path, text) && isCapped(path)

const read = (path: string): string | null => readIfFile(path, policy.smallFileBytes)

function isCapped(path: string): boolean {
  try {
    capLog(path)
    return true
  } catch {
    return false
  }
}

const TAIL_BYTES = 4096

function tailOf(path: string, after: number): string {
  const tail = orNull(() => withFile(path, 'read', (fd) => bytesAt(fd, Math.max(after, fstatSync(fd).size - TAIL_BYTES), TAIL_BYTES)))
  return tail?.toString('utf8') ?? ''
}

function isSame(fd: number, path: string): boolean {
  try {
    const [one, other] = [fstatSync(fd), lstatSync(path)]
    return one.dev === other.dev && one.ino === other.ino
  } catch {
    return false
  }
}
