import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../model/index.ts'

/** What the kernel allows a socket's path is 107 bytes; a little less, so that nobody has to count. */
const MAX_PATH = 100

/**
 * Where the tmux server of a home listens: in the home or, where that path is too long for a socket, in a short folder that is the user's
 * alone. Never one that TMPDIR names: who looks for it later may have another.
 */
export function socketOf(home: string, uid: number): string {
  const own = join(home, 'tmux', 'sock')
  return Buffer.byteLength(own) <= MAX_PATH ? own : join(shortFolder(uid), createHash('sha256').update(home).digest('hex').slice(0, 24), 'sock')
}

const shortFolder = (uid: number): string => `/tmp/holdfast-${uid}`

/** Makes the folder of a socket, and sees that it is nobody else's. */
export function makePrivate(socket: string, uid: number): void {
  const folder = socket.slice(0, socket.lastIndexOf('/'))
  for (const path of folder.startsWith(`${shortFolder(uid)}/`) ? [shortFolder(uid), folder] : [folder]) {
    try {
      mkdirSync(path, { mode: 0o700 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw refused(path, `it cannot be made (${(error as NodeJS.ErrnoException).code})`)
    }
    const stat = lstatSync(path)
    if (!stat.isDirectory()) throw refused(path, 'it is no folder')
    if (stat.uid !== uid) throw refused(path, `it belongs to uid ${stat.uid}`)
    if ((stat.mode & 0o077) !== 0) throw refused(path, 'others may enter it')
  }
}

const refused = (path: string, why: string): Problem =>
  new Problem('unavailable', `the tmux server of Holdfast needs ${path} as a private folder, and ${why}`, {
    hint: 'remove it, or use another --home',
  })
