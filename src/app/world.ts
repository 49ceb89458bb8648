import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Ender, Eyes, Hands } from '../act/index.ts'
import { daemonLore, sharedDaemons } from '../harness/index.ts'
import { cgroupContainers, gitWorktrees, runFiles, shellKeepers, systemNotifiers, tmuxPanes } from '../keep/index.ts'
import type {
  Cgroups,
  Clock,
  Containers,
  DaemonLore,
  Harness,
  Keepers,
  Notifiers,
  NotifyConfig,
  Panes,
  Policy,
  Processes,
  ProcessRow,
  ReadDatabase,
  RunFiles,
  SharedDaemon,
  SpareRule,
  Store,
  Worktrees,
} from '../model/index.ts'
import { Problem, policy } from '../model/index.ts'
import { linuxCgroups, linuxProcesses, readPlace } from '../observe/index.ts'
import { readForeignDatabase } from '../record/index.ts'
import { realClock } from './clock.ts'
import { agentsIn, recordCompany } from './company.ts'
import { openConfig } from './config.ts'
import { withFailpoints } from './failpoints.ts'
import { homePath, openHome, userName } from './home.ts'
import { hookTexts } from './hook-texts.ts'
import { learnAtEnd } from './native.ts'
import { openStore } from './open-store.ts'
import { recordInPassing } from './record.ts'
import { markersOnDisk, recoverStore } from './recover.ts'
import { tokensOf } from './usage.ts'

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
  readonly panes: Panes
  readonly cgroups: Cgroups
  readonly containers: Containers
  readonly spares: () => readonly SpareRule[]
  /** The agents that we know how to talk to. */
  readonly harnesses: () => readonly Harness[]
  /** Those of them that config.toml describes. */
  readonly ownHarnesses: () => readonly Harness[]
  readonly readDatabase: ReadDatabase
  /** Where config.toml wants the daemon on loopback; null: anywhere. */
  readonly daemonPort: () => number | null
  /** What is wrong with config.toml, if it was needed and makes no sense. */
  readonly configTrouble: () => string | null
  /** How people are told of what happens, and how they want to be. */
  readonly notifiers: Notifiers
  readonly notify: () => NotifyConfig
  readonly daemons: (rows: readonly ProcessRow[]) => readonly SharedDaemon[]
  readonly daemonLore: DaemonLore
  readonly ask: Keepers['ask']
  readonly tokensIn: Eyes['tokensIn']
  readonly zeroAfter: Eyes['zeroAfter']
  readonly agentsIn: Hands['agentsIn']
  readonly recordCompany: Ender['recordCompany']
  readonly learnAtEnd: Ender['learnAtEnd']
  readonly worktrees: Worktrees
  readonly host: string
  /** Lazily, so that it costs nothing: `user@host`. */
  readonly user: () => string
  /** Opened at first use. `reader` never waits for another writer. */
  readonly store: (as: 'writer' | 'reader') => Promise<Store>
  readonly others: () => Promise<ReadonlySet<number>>
  readonly close: () => void
  /** Set where we work for somebody who did not start us. */
  readonly behalf?: Behalf
}

/** `unknown`: why it cannot be told who that is; nothing is done for such a one. */
export type Behalf = { readonly unknown: string | null; readonly umask: number | null }

export type WorldOptions = { readonly assets: string; readonly home?: string | undefined; readonly env?: NodeJS.ProcessEnv }

export function openWorld({ assets, home: option, env = process.env }: WorldOptions): World {
  const home = openHome(homePath(option, env))
  const clock = realClock
  const processes = withFailpoints('processes', linuxProcesses(readPlace(home.install)))
  const files = withFailpoints('files', runFiles(home.path, hookTexts))
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
  const panes = withFailpoints(
    'panes',
    tmuxPanes({ home: home.path, assets, files, env, birth, arguments: processes.arguments, send: processes.send }),
  )
  const senses = { processes, files, harnesses: config.harnesses, ownHarnesses: config.ownHarnesses, readDatabase: readForeignDatabase, clock, env }
  const zeroAfter: Eyes['zeroAfter'] = (run) => {
    const harness = files.natives(run.id).at(-1)?.harness
    return config.harnesses().find(({ name }) => name === harness)?.zeroAfter ?? []
  }
  const tokensIn: Eyes['tokensIn'] = (run) => tokensOf(senses, run)
  const opened = new Map<string, Promise<Store>>()
  const open = async (as: 'writer' | 'reader'): Promise<Store> => {
    const store = await openStore(home.path, clock, as)
    await recoverStore(store, { islands, processes, files, cgroups, spares, daemons, daemonLore, tokensIn, zeroAfter, clock })
    return store
  }
  const store: World['store'] = (as) => {
    const known = opened.get(as) ?? open(as)
    opened.set(as, known)
    return known
  }
  const world: World = {
    home: home.path,
    islands,
    assets,
    env,
    policy,
    clock,
    processes,
    files,
    keepers,
    panes,
    cgroups,
    containers: withFailpoints('containers', cgroupContainers),
    spares,
    harnesses: config.harnesses,
    ownHarnesses: config.ownHarnesses,
    readDatabase: readForeignDatabase,
    tokensIn,
    zeroAfter,
    agentsIn: agentsIn(senses),
    recordCompany: async (run, agents) => recordCompany(senses, await store('writer'))(run, agents),
    learnAtEnd: (run) => recordInPassing()(async () => learnAtEnd(world, await store('writer'), run)),
    notifiers: systemNotifiers(env),
    notify: config.notify,
    configTrouble: config.trouble,
    daemonPort: config.daemonPort,
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
        known
          .then((port) => port.close())
          // One that never opened, or cannot even be closed, is nobody's trouble any more.
          .catch(() => {})
      opened.clear()
    },
  }
  return world
}
