import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openWorld, realClock, type Worlds, worlds } from '../app/index.ts'
import type { Site } from '../http/index.ts'
import type { DaemonHealth, DaemonRecord } from '../model/index.ts'
import { DAEMON_PROTOCOL } from '../model/index.ts'
import { startLoop } from './loop.ts'
import { partsOf } from './parts.ts'
import { daemonSite } from './site.ts'

export type DaemonOptions = {
  readonly assets: string
  readonly home: string
  readonly version: string
  readonly startedBy: DaemonRecord['startedBy']
}

/** What the parts of the daemon work with. */
export type Daemon = DaemonOptions & {
  /** Everything may change while a daemon lives (the store, the configuration): each round opens the world anew. */
  readonly worlds: Worlds
  /** One line in the daemon's own log. */
  readonly log: (line: string) => void
  readonly wake: (part: string) => void
  readonly health: () => DaemonHealth
  /** What it answers over HTTP, for whoever listens. */
  readonly site: Site
  /** Where it is on loopback from now on, for its record; null: nowhere. */
  readonly listening: (http: string | null) => void
}

/** The daemon: one for each home. It only makes things happen without being asked; nothing depends on it. */
export async function runDaemon(options: DaemonOptions): Promise<number> {
  const { assets, home } = options
  const log = (line: string): void => void process.stderr.write(`${line}\n`)
  const path = join(home, 'daemon', 'daemon.json')
  mkdirSync(join(home, 'daemon'), { recursive: true, mode: 0o700 })
  const write = (http: string | null): void => writeFileSync(path, JSON.stringify(recordOf(options, http)), { mode: 0o600 })
  write(null)
  const known = { ...options, worlds: worlds(() => openWorld({ assets, home })), log, health: () => loop.health() }
  const daemon: Daemon = { ...known, wake: (part) => loop.wake(part), site: daemonSite(known), listening: write }
  const loop = startLoop(partsOf(daemon), realClock, ({ name, lastError }) => log(`${name}: ${lastError ?? 'well again'}`))
  await new Promise<void>((told) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => told())
  })
  await loop.stop()
  rmSync(path, { force: true })
  return 0
}

function recordOf({ assets, home, version, startedBy }: DaemonOptions, http: string | null): DaemonRecord {
  const world = openWorld({ assets, home })
  const about = { process: world.processes.self(), place: world.processes.here(), marker: null, version, protocol: DAEMON_PROTOCOL }
  world.close()
  return { format: 1, ...about, startedAt: Math.round(performance.timeOrigin), startedBy, socket: '', http }
}
