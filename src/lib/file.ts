import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync, type Stats, statSync, writeSync } from 'node:fs'
import { orNull } from './or-null.ts'

/**
 * The only way to open a file that another program could have touched. Anything may lie in its place. A pipe would keep us waiting for its other
 * end, a device never comes to an end, and a link leads elsewhere. So every file is opened without waiting, must be a plain file, and has a bound.
 * `refused`: a link is never followed, as in a folder of ours. `followed`: it is, since people link files of their own.
 */
export type Links = 'refused' | 'followed'

/** Why something is not used as a file. `why` continues "it …": "is a FIFO". `code` is the kernel's, ENOTFILE or EFBIG. */
export class FileTrouble extends Error {
  constructor(
    readonly path: string,
    readonly code: string,
    readonly why: string,
    options?: ErrorOptions,
  ) {
    super(`${path} ${why}`, options)
  }
}

/** What failed, in a word or a sentence: "it is a FIFO", or the kernel's code. */
export const wordsOf = (error: unknown): string =>
  error instanceof FileTrouble ? `it ${error.why}` : ((error as NodeJS.ErrnoException).code ?? String(error))

/** `read`; `append`, which makes it if it is missing; `change`, which writes in place what is there; `create`, which only makes a new one. */
type Use = 'read' | 'append' | 'change' | 'create'
const { O_RDONLY, O_RDWR, O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NONBLOCK, O_NOFOLLOW, O_NOCTTY } = constants
const FLAGS: Readonly<Record<Use, number>> = {
  read: O_RDONLY,
  append: O_WRONLY | O_APPEND | O_CREAT,
  change: O_RDWR,
  create: O_WRONLY | O_CREAT | O_EXCL,
}

/** Whoever opens it closes it. Throws a FileTrouble. */
export function openFile(path: string, use: Use, links: Links = 'refused'): number {
  // What a link leads to may be a device, and some do something when they are opened.
  if (links === 'followed' && use === 'read') refuseOther(path, lookAt(path))
  let fd: number
  try {
    fd = openSync(path, FLAGS[use] | O_NONBLOCK | O_NOCTTY | (links === 'refused' ? O_NOFOLLOW : 0), 0o600)
  } catch (error) {
    throw troubleOf(path, error)
  }
  try {
    refuseOther(path, fstatSync(fd))
    if (links === 'followed') refuseKernel(path, fd)
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Throws a FileTrouble, or whatever the work throws. */
export function withFile<T>(path: string, use: Use, work: (fd: number) => T, links: Links = 'refused'): T {
  const fd = openFile(path, use, links)
  try {
    return work(fd)
  } finally {
    closeSync(fd)
  }
}

/** The bytes of a file that has so many at most. */
export const readBytes = (path: string, most: number, links: Links = 'refused'): Buffer =>
  withFile(path, 'read', (fd) => bytesOf(path, fd, most), links)

export const readFile = (path: string, most: number, links: Links = 'refused'): string => readBytes(path, most, links).toString('utf8')

/** Null: it cannot be read, for whatever reason. */
export const readIfFile = (path: string, most: number, links: Links = 'refused'): string | null => orNull(() => readFile(path, most, links))

/** A part of a file, from one place on; fewer bytes if it ends before. */
export function bytesAt(fd: number, from: number, most: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, most))
  let filled = 0
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, from + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

/** Its size is only what it says of itself: what is read is bounded by itself. */
function bytesOf(path: string, fd: number, most: number): Buffer {
  const { size } = fstatSync(fd)
  const bytes = size > most ? null : bytesAt(fd, 0, Math.min(size, most) + 1)
  if (bytes === null || bytes.length > most) throw new FileTrouble(path, 'EFBIG', tooLarge(most))
  // It grew while it was read.
  return bytes.length > size ? rest(path, fd, bytes, most) : bytes
}

function rest(path: string, fd: number, begun: Buffer, most: number): Buffer {
  const bytes = Buffer.concat([begun, bytesAt(fd, begun.length, most + 1 - begun.length)])
  if (bytes.length > most) throw new FileTrouble(path, 'EFBIG', tooLarge(most))
  return bytes
}

const tooLarge = (most: number): string => `is larger than ${most < 1024 * 1024 ? `${most / 1024} KB` : `${most / 1024 / 1024} MB`}`

/** All of it: a disk may take only a part at a time. */
export function writeAll(fd: number, text: string | Uint8Array, at: number | null = null): void {
  let left: Uint8Array = typeof text === 'string' ? Buffer.from(text) : text
  for (let place = at; left.length > 0; ) {
    const count = writeSync(fd, left, 0, left.length, place)
    left = left.subarray(count)
    if (place !== null) place += count
  }
}

/** Null: a plain file lies there, or nothing. Else what does, as in "is a FIFO". */
export function otherThanFile(path: string, most: number): string | null {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return null
    return kindOf(stats) ?? (stats.size > most ? tooLarge(most) : null) ?? trying(path)
  } catch (error) {
    return troubleOf(path, error).why
  }
}

function trying(path: string): string | null {
  try {
    closeSync(openFile(path, 'read'))
    return null
  } catch (error) {
    return error instanceof FileTrouble && error.code !== 'ENOENT' ? error.why : null
  }
}

function lookAt(path: string): Stats {
  try {
    return statSync(path)
  } catch (error) {
    throw troubleOf(path, error)
  }
}

function refuseOther(path: string, stats: Stats): void {
  const kind = kindOf(stats)
  if (kind !== null) throw new FileTrouble(path, 'ENOTFILE', kind)
}

/** What the kernel shows as files has no size, and some of it no end. */
function refuseKernel(path: string, fd: number): void {
  const real = orNull(() => readlinkSync(`/proc/self/fd/${fd}`)) ?? ''
  if (/^\/(?:proc|sys|dev)\//.test(real)) throw new FileTrouble(path, 'ENOTFILE', `leads to ${real}`)
}

/** Null: it is a plain file. Else what it is, as in "is a FIFO". */
export function kindOf(stats: Stats): string | null {
  if (stats.isFile()) return null
  if (stats.isFIFO()) return 'is a FIFO'
  if (stats.isDirectory()) return 'is a directory'
  if (stats.isSocket()) return 'is a socket'
  return stats.isSymbolicLink() ? 'is a symbolic link' : 'is a device'
}

/** The kernel says ENXIO of a socket, and of a pipe that nobody reads; and ELOOP of a link that is not to be followed. */
function troubleOf(path: string, error: unknown): FileTrouble {
  const code = (error as NodeJS.ErrnoException).code ?? 'EIO'
  const stats = code === 'ENXIO' || code === 'ELOOP' || code === 'EISDIR' ? orNull(() => lstatSync(path)) : null
  const kind = stats === null ? null : kindOf(stats)
  const words = kind ?? (code === 'EAGAIN' ? 'is held by a lease of another program' : `cannot be opened (${code})`)
  return new FileTrouble(path, kind === null ? code : 'ENOTFILE', words, { cause: error })
}
