import { openWorld, realClock, type Worlds, worlds } from '../app/index.ts'
import type { DaemonHealth } from '../model/index.ts'
import { startLoop } from './loop.ts'
import { partsOf } from './parts.ts'

export type DaemonOptions = { readonly assets: string; readonly home: string; readonly version: string }

/** What the parts of the daemon work with. */
export type Daemon = DaemonOptions & {
  /** Everything may change while a daemon lives (the store, the configuration): each round opens the world anew. */
  readonly worlds: Worlds
  /** One line in the daemon's own log. */
  readonly log: (line: string) => void
  readonly wake: (part: string) => void
  readonly health: () => DaemonHealth
}

/** The daemon: one for each home. It only makes things happen without being asked; nothing depends on it. */
export async function runDaemon(options: DaemonOptions): Promise<number> {
  const { assets, home } = options
  const log = (line: string): void => void process.stderr.write(`${line}\n`)
  const daemon: Daemon = {
    ...options,
    worlds: worlds(() => openWorld({ assets, home })),
    log,
    wake: (part) => loop.wake(part),
    health: () => loop.health(),
  }
  const loop = startLoop(partsOf(daemon), realClock, ({ name, lastError }) => log(`${name}: ${lastError ?? 'well again'}`))
  await new Promise<void>((told) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => told())
  })
  await loop.stop()
  return 0
}
