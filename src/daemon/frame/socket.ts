import { lstatSync, renameSync, rmSync } from 'node:fs'
import type { RequestListener, Server } from 'node:http'
import { basename, join } from 'node:path'
import { reach } from '../../app/index.ts'
import { boundedServer } from '../../http/index.ts'
import type { DaemonFiles } from '../../model/index.ts'

/** The daemon's socket. Only who holds the home's lock opens one. */
export type Door = {
  /** Is the socket that others find there ours? Else it is put there again; true: it was. */
  restore(): Promise<boolean>
  /** Takes away only what is our own. */
  close(): Promise<void>
}

export async function openDoor(files: DaemonFiles, listener: RequestListener): Promise<Door> {
  let serial = 0
  let server: Server | null = null
  let known: string | null = null

  /**
   * Under a name of its own, then a rename: there is no moment without a socket, whatever lay there is replaced at once, and what Node
   * removes by name when it closes is not there any more, instead of somebody else's.
   */
  async function bind(): Promise<void> {
    const name = `${basename(files.socket)}.${process.pid}.${++serial}`
    const road = reach(files.folder, name)
    const next = boundedServer(listener)
    try {
      await listen(next, road.path)
      if (lstatSync(files.socket, { throwIfNoEntry: false })?.isDirectory() === true) renameSync(files.socket, `${files.socket}.aside-${process.pid}`)
      renameSync(join(files.folder, name), files.socket)
      server?.close()
      server = next
      known = identityOf(files.socket)
    } catch (error) {
      next.close()
      throw error
    } finally {
      road.close()
    }
  }

  await bind()
  return {
    async restore() {
      if (known !== null && identityOf(files.socket) === known) return false
      await bind()
      return true
    },
    async close() {
      if (known !== null && identityOf(files.socket) === known) rmSync(files.socket, { force: true })
      const closing = server
      server = null
      if (closing === null) return
      const closed = new Promise<void>((done) => closing.close(() => done()))
      closing.closeAllConnections()
      await closed
    },
  }
}

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      // Such as having no descriptor left for one more connection: the next one may find one.
      server.on('error', () => {})
      resolve()
    })
  })

/** As long as we listen on it the kernel gives its number to no other file. */
function identityOf(path: string): string | null {
  const seen = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return seen === undefined ? null : `${seen.dev}:${seen.ino}`
}
