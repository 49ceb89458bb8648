import { hostname } from 'node:os'
import { join } from 'node:path'
import { backoffMs } from '../decide/index.ts'
import { daemonLore, sharedDaemons } from '../harness/index.ts'
import { cgroupContainers, gitWorktrees, runFiles, shellKeepers } from '../keep/index.ts'
import type {
  Cgroups,
  Clock,
  Containers,
  DaemonLore,
  Keepers,
  Policy,
  Processes,
  ProcessRow,
  RunFiles,
  SharedDaemon,
  SpareRule,
  Store,
  Worktrees,
} from '../model/index.ts'
import { Problem, policy } from '../model/index.ts'
import { linuxCgroups, linuxProcesses, readPlace } from '../observe/index.ts'
import { openSqliteStore } from '../record/index.ts'
import { realClock } from './clock.ts'
import { openConfig } from './config.ts'
import { withFailpoints } from './failpoints.ts'
import { homePath, openHome, userName } from './home.ts'
import { markersOnDisk, recoverStore } from './recover.ts'

/** Everything a use case may touch. The only place where real edges are built. */
export type World = {
  readonly home: string
  /** The folder of our own worktrees: each of them is apart from everything around it. */
  readonly islands: string
  readonly assets: string
  readonly env: NodeJS.ProcessEnv
  readonly policy: Policy
  readonly clock: Clock
  readonly processes: Processes
  readonly files: RunFiles
  readonly keepers: Keepers
  readonly cgroups: Cgroups
  readonly containers: Containers
  readonly spares: () => readonly SpareRule[]
  /** What is wrong with config.toml, if it was needed and makes no sense. */
  readonly configTrouble: () => string | null
  readonly daemons: (rows: readonly ProcessRow[]) => readonly SharedDaemon[]
  readonly daemonLore: DaemonLore
  readonly ask: Keepers['ask']
  readonly worktrees: Worktrees
  readonly host: string
  /** Lazily, so that it costs nothing: `user@host`. */
  readonly user: () => string
  /** Opened at first use. `reader` never waits for another writer. */
  readonly store: (as: 'writer' | 'reader') => Promise<Store>
  readonly others: () => Promise<ReadonlySet<number>>
  readonly close: () => void
}

export type WorldOptions = { readonly assets: string; readonly home?: string | undefined; readonly env?: NodeJS.ProcessEnv }

export function openWorld({ assets, home: option, env = process.env }: WorldOptions): World {
  const home = openHome(homePath(option, env))
  const clock = realClock
  const processes = withFailpoints('processes', linuxProcesses(readPlace(home.install)))
  const files = withFailpoints('files', runFiles(home.path))
  const birth = (pid: number) => {
    const seen = processes.sample(pid)
    return seen.kind === 'seen' ? { pid, ticks: seen.row.ticks } : null
  }
  const islands = join(home.path, 'worktrees')
  const cgroups = withFailpoints('cgroups', linuxCgroups)
  const config = openConfig(home.path)
  const { spares } = config
  const daemons = (rows: readonly ProcessRow[]) => sharedDaemons(rows, processes.arguments, processes.environment)
  const keepers = withFailpoints('keepers', shellKeepers({ assets, files, birth }))
  const opened = new Map<string, Promise<Store>>()
  const open = async (as: 'writer' | 'reader'): Promise<Store> => {
    const bounds = { minMs: policy.busyRetryMinMs, maxMs: policy.busyRetryMaxMs }
    const port = await openSqliteStore({
      path: join(home.path, 'holdfast.db'),
      clock,
      patienceMs: policy.busyMs,
      writePatienceMs: as === 'writer' ? policy.busyMs : 0,
      backoff: (attempt) => backoffMs(attempt, bounds, clock.random()),
    })
    const store = withFailpoints('store', port)
    await recoverStore(store, { islands, processes, files, cgroups, spares, daemons, daemonLore, clock })
    return store
  }
  const store: World['store'] = (as) => {
    const known = opened.get(as) ?? open(as)
    opened.set(as, known)
    return known
  }
  return {
    home: home.path,
    islands,
    assets,
    env,
    policy,
    clock,
    processes,
    files,
    keepers,
    cgroups,
    containers: withFailpoints('containers', cgroupContainers),
    spares,
    configTrouble: config.trouble,
    daemons,
    daemonLore,
    ask: (asking, environment, ms) => keepers.ask(asking, environment, ms),
    worktrees: withFailpoints('worktrees', gitWorktrees(env)),
    host: hostname(),
    user: userName,
    store,
    others: () =>
      store('reader')
        .then((port) => port.markers())
        .catch((error: unknown) => {
          if (error instanceof Problem) return markersOnDisk(files)
          throw error
        }),
    close() {
      for (const known of opened.values())
        known.then(
          (port) => port.close(),
          () => {},
        )
      opened.clear()
    },
  }
}
