import { lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { sha256 } from '../../lib/index.ts'
import { Problem, policy } from '../../model/index.ts'

/** What the kernel allows a socket's path is 107 bytes; a little less, so that nobody has to count. */
const MAX_PATH = 100
const SOCKET = '/tmux/sock'

/**
 * Where the tmux server of a home listens: in the home or, where that path is too long for a socket, in a short folder that is the user's
 * alone. Never one that TMPDIR names: who looks for it later may have another.
 */
export function socketOf(home: string, uid: number): string {
  const own = join(home, SOCKET)
  return Buffer.byteLength(own) <= MAX_PATH ? own : join(shortFolder(uid), sha256(home).slice(0, 24), 'sock')
}

const shortFolder = (uid: number): string => `/tmp/holdfast-${uid}`

/** Makes the folder of a socket, and sees that it is nobody else's. */
export function makePrivate(socket: string, uid: number): void {
  for (const path of foldersOf(socket, uid)) {
    try {
      mkdirSync(path, { mode: 0o700 })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EEXIST') throw new Problem('tmux-unavailable', sentence(path, `it cannot be made (${code})`))
    }
    const trouble = placeTrouble(socket, uid)
    if (trouble !== null) throw new Problem('tmux-unavailable', trouble)
  }
}

/** What is wrong with the folder of a socket, if it is there already: whoever comes first to a name in /tmp has it. */
export function placeTrouble(socket: string, uid: number): string | null {
  for (const path of foldersOf(socket, uid)) {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return null
    if (!stat.isDirectory()) return sentence(path, 'it is no folder')
    if (stat.uid !== uid) return sentence(path, `it belongs to uid ${stat.uid}`)
    if ((stat.mode & 0o077) !== 0) return sentence(path, 'others may enter it')
  }
  return null
}

/**
 * What is left at a place where nobody listens. A server that comes up is not heard either before it listens, so what is young is not taken for
 * that; its age is looked at last.
 */
export async function leftoverAt(socket: string, uid: number, now: number): Promise<string | null> {
  const folder = dirname(socket)
  if (placeTrouble(socket, uid) !== null || (await isHeard(socket))) return null
  const isOld = ({ mtimeMs }: { readonly mtimeMs: number }): boolean => now - mtimeMs >= policy.tmuxComesUpMs
  const there = lstatSync(socket, { throwIfNoEntry: false })
  if (there !== undefined) return there.isSocket() && there.uid === uid && isOld(there) ? socket : null
  const place = foldersOf(socket, uid).length > 1 ? lstatSync(folder, { throwIfNoEntry: false }) : undefined
  return place !== undefined && isOld(place) && readdirSync(folder).length === 0 ? folder : null
}

/**
 * The folders go too where they are outside of the home, as far as they are empty then. Never the lock beside the socket, by which tmux has only
 * one server come up: who waits for it, or is about to, would not notice that it is another file by now.
 */
export async function removeLeftover(socket: string, uid: number, now: number): Promise<string | null> {
  if ((await leftoverAt(socket, uid, now)) === null) return 'it is in use again'
  try {
    rmSync(socket, { force: true })
    const folders = foldersOf(socket, uid)
    if (folders.length > 1) for (const folder of folders.toReversed()) rmdirSync(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOTEMPTY' && code !== 'ENOENT') return `it could not be removed (${code})`
  }
  return null
}

/** Only a refusal, or nothing there, proves that nobody listens: one that is frozen lets connections wait. */
const isHeard = (socket: string): Promise<boolean> =>
  new Promise((resolve) => {
    const connection = connect(socket)
    const answer = (heard: boolean): void => {
      connection.destroy()
      resolve(heard)
    }
    connection.setTimeout(policy.tmuxMs, () => answer(true))
    connection.once('connect', () => answer(true))
    connection.once('error', ({ code }: NodeJS.ErrnoException) => answer(code !== 'ECONNREFUSED' && code !== 'ENOENT'))
  })

function foldersOf(socket: string, uid: number): string[] {
  const folder = dirname(socket)
  return dirname(folder) === shortFolder(uid) ? [shortFolder(uid), folder] : [folder]
}

const sentence = (path: string, why: string): string =>
  `the tmux server of Holdfast needs ${path} as a private folder, and ${why}: have it removed, or use another --home (up to ${MAX_PATH - SOCKET.length} bytes long it is in the home itself)`
