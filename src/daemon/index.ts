import { openWorld, realClock, type Worlds, worlds } from '../app/index.ts'
import type { Site } from '../http/index.ts'
import type { DaemonHealth, DaemonRecord } from '../model/index.ts'
import { startLoop } from './loop.ts'
import { partsOf } from './parts.ts'
import { daemonSite } from './site.ts'

export type DaemonOptions = { readonly assets: string; readonly home: string; readonly version: string }

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
  /** What others shall know of it from now on. */
  readonly publish: (about: Pick<DaemonRecord, 'http'>) => void
}

/** The daemon: one for each home. It only makes things happen without being asked; nothing depends on it. */
export async function runDaemon(options: DaemonOptions): Promise<number> {
  const { assets, home } = options
  const log = (line: string): void => void process.stderr.write(`${line}\n`)
  const known = { ...options, worlds: worlds(() => openWorld({ assets, home })), log, health: () => loop.health() }
  const daemon: Daemon = { ...known, wake: (part) => loop.wake(part), site: daemonSite(known), publish: () => {} }
  const loop = startLoop(partsOf(daemon), realClock, ({ name, lastError }) => log(`${name}: ${lastError ?? 'well again'}`))
  await new Promise<void>((told) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => told())
  })
  await loop.stop()
  return 0
}
