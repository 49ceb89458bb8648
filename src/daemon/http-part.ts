import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { daemonToken } from '../app/index.ts'
import { type Listening, listen } from '../http/index.ts'
import { Problem, policy } from '../model/index.ts'
import type { Daemon } from './index.ts'
import type { Part } from './loop.ts'

/** The daemon on loopback. Where it cannot be, that is tried again; nothing else waits for it. */
export function httpPart({ home, worlds, site, listening: tell, log }: Daemon): Part {
  let listening: Listening | null = null
  const leave = async (): Promise<void> => {
    const former = listening
    listening = null
    if (former !== null) tell(null)
    await former?.close()
  }
  return {
    name: 'http',
    everyMs: policy.daemonPaceMs,
    async round() {
      const wanted = await worlds.use(async (world) => world.daemonPort())
      if (listening !== null && (!listening.isListening() || (wanted !== null && wanted !== listening.port))) await leave()
      if (listening === null) {
        const token = daemonToken(home)
        listening = await listenAt(wanted, lastPort(home), (port) => listen(port, (taken) => site.onLoopback(taken, token)))
        keepPort(home, listening.port)
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
      'unavailable',
      code === 'EADDRINUSE' ? `port ${wanted} is taken by another program` : `port ${wanted ?? last} cannot be listened on: ${code}`,
      {
        hint: 'free it, or choose another in config.toml ([daemon] port)',
        cause: error,
      },
    )
  }
}

const portFile = (home: string): string => join(home, 'daemon', 'port')

/** 0: it had none, or nobody knows. */
function lastPort(home: string): number {
  try {
    const port = Number(readFileSync(portFile(home), 'utf8').trim())
    return Number.isInteger(port) && port >= 1024 && port <= 65_535 ? port : 0
  } catch {
    return 0
  }
}

function keepPort(home: string, port: number): void {
  try {
    writeFileSync(portFile(home), `${port}\n`, { mode: 0o600 })
  } catch {
    // Then it has another one next time.
  }
}
