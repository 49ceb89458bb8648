import { daemonToken } from '../../app/index.ts'
import { type Listening, listen } from '../../http/index.ts'
import { Problem, policy } from '../../model/index.ts'
import type { Daemon } from '../daemon.ts'
import type { Part } from '../frame/loop.ts'

/** The daemon on loopback. Where it cannot be, that is tried again; nothing else waits for it. */
export function httpPart({ home, files, worlds, site, listening: tell, log }: Daemon): Part {
  let listening: (Listening & { readonly token: string }) | null = null
  const leave = async (): Promise<void> => {
    const former = listening
    listening = null
    if (former === null) return
    // Nobody is let in any more, also if that cannot be written down.
    await former.close()
    tell(null)
  }
  /** Whoever takes a token away, or changes it, wants nobody let in by it any more. */
  const tokenNow = async (): Promise<string> => {
    try {
      return daemonToken(home)
    } catch (error) {
      await leave()
      throw error
    }
  }
  return {
    name: 'http',
    everyMs: policy.daemonPaceMs,
    async round() {
      const wanted = await worlds.use(async (world) => world.daemonPort())
      const token = await tokenNow()
      const isAsWanted = listening?.isListening() === true && listening.token === token && (wanted ?? listening.port) === listening.port
      if (!isAsWanted) await leave()
      if (listening === null) {
        listening = { ...(await listenAt(wanted, files.port(), (port) => listen(port, (taken) => site.onLoopback(taken, token)))), token }
        files.keepPort(listening.port)
        tell(`http://127.0.0.1:${listening.port}`)
        log(`http: listens on 127.0.0.1:${listening.port}`)
      }
      return { connections: await listening.connections() }
    },
    async close() {
      await leave()
      await site.close()
    },
  }
}

/** The wanted port and no other; else the one it had before, so that those who know it find it; else any. */
async function listenAt(wanted: number | null, last: number, open: (port: number) => Promise<Listening>): Promise<Listening> {
  try {
    return await open(wanted ?? last)
  } catch (error) {
    if (wanted === null && last !== 0) return open(0)
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new Problem(
      'port-unavailable',
      code === 'EADDRINUSE' ? `port ${wanted} is taken by another program` : `port ${wanted ?? last} cannot be listened on: ${code}`,
      {
        hint: 'free it, or choose another in config.toml ([daemon] port)',
        cause: error,
      },
    )
  }
}
