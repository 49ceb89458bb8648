import type { World, Worlds } from '../app/index.ts'
import type { Site } from '../http/index.ts'
import type { DaemonFiles, DaemonHealth, StartedBy } from '../model/index.ts'

export type DaemonOptions = { readonly assets: string; readonly home: string; readonly version: string; readonly startedBy: StartedBy }

/** What the parts of the daemon work with. */
export type Daemon = DaemonOptions & {
  /** What is its own in the home. */
  readonly files: DaemonFiles
  /** False: the home was removed or replaced. Opening it would make it again, and it is not to come back by us. */
  readonly isThere: () => boolean
  /** The world as it is now; throws where the home is not there any more. */
  readonly open: () => World
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
