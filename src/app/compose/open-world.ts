import { existsSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import type { LookPorts } from '../../act/index.ts'
import { findHarnessDaemons, harnessDaemonRules } from '../../harness/index.ts'
import {
  cgroupContainers,
  daemonFiles,
  gitBranches,
  gitWorktrees,
  originFiles,
  runFiles,
  shellKeepers,
  systemNotifiers,
  tmuxPanes,
  workflowFiles,
} from '../../keep/index.ts'
import type { ProcessRow, Store } from '../../model/index.ts'
import { Problem, policy } from '../../model/index.ts'
import { linuxCgroups, linuxConnections, linuxProcesses, ownProcess, readPlace, realDirectories } from '../../observe/index.ts'
import { readForeignDatabase } from '../../record/index.ts'
import { nestedAgents, recordNestedAgents } from '../agent/nested-agents.ts'
import { learnAtEnd } from '../conversation/conversation.ts'
import { hookTexts } from '../hooks/hook-texts.ts'
import { recoverStore, rootsOnDisk } from '../recover/recover.ts'
import { tokensOf } from '../usage/count-tokens.ts'
import { recordInPassing } from '../world/best-effort-write.ts'
import { realClock } from '../world/clock.ts'
import { eachWithFailpoints, withFailpoints } from '../world/failpoints.ts'
import type { World } from '../world/world.ts'
import { openConfig } from './config.ts'
import { homePath, openHome, userName } from './home.ts'
import { openHttpSource } from './open-source.ts'
import { openStore, type StorePatience } from './open-store.ts'

export type WorldOptions = {
  readonly assets: string
  readonly home?: string | undefined
  readonly env?: NodeJS.ProcessEnv
  readonly patience?: StorePatience
}

/** Without it nobody can be seen, and what cannot be seen must not be taken for gone. */
function seeProc(): void {
  if (existsSync('/proc/self/stat')) return
  throw new Problem('proc-missing', '/proc is not there, so no process can be looked at, and nothing was done', {
    hint: 'mount it: mount -t proc proc /proc',
  })
}

/** The only place where real edges are built. */
export function openWorld({ assets, home: option, env = process.env, patience }: WorldOptions): World {
  seeProc()
  const home = openHome(homePath(option, env))
  const clock = realClock
  const processes = withFailpoints('processes', linuxProcesses(readPlace(home.install)))
  const files = eachWithFailpoints(runFiles(home.path, hookTexts))
  const birth = (pid: number) => {
    const seen = processes.sample(pid)
    return seen.kind === 'seen' ? { pid, ticks: seen.row.ticks } : null
  }
  const worktreesFolder = join(home.path, 'worktrees')
  const directories = realDirectories(worktreesFolder)
  const cgroups = withFailpoints('cgroups', linuxCgroups)
  const config = openConfig(home.path)
  const { spares } = config
  const harnessDaemons = (rows: readonly ProcessRow[]) => findHarnessDaemons(rows, processes.arguments, processes.environment)
  const keepers = withFailpoints('keepers', shellKeepers({ assets, runRecords: files.runRecords, birth }))
  const panes = withFailpoints(
    'panes',
    tmuxPanes({ home: home.path, assets, runRecords: files.runRecords, env, birth, arguments: processes.arguments, send: processes.send }),
  )
  const senses = {
    processes,
    directories,
    ...files,
    harnesses: config.harnesses,
    ownHarnesses: config.ownHarnesses,
    readDatabase: readForeignDatabase,
    clock,
    env,
  }
  const exitsZeroAfter: LookPorts['exitsZeroAfter'] = (run) => {
    const harness = files.agentState.natives(run.id).at(-1)?.harness
    return config.harnesses().find(({ name }) => name === harness)?.zeroAfter ?? []
  }
  const daemon = daemonFiles(home.path)
  const ownDaemon: LookPorts['ownDaemon'] = () => {
    const record = daemon.record()
    return record !== null && linuxConnections.lockHolder(daemon.lock) === record.process.pid ? record.process : null
  }
  const tokensOfRun: LookPorts['tokensOfRun'] = (run) => tokensOf(senses, run)
  const opened = new Map<string, Promise<Store>>()
  let unreadable: readonly string[] = []
  const open = async (as: 'writer' | 'reader'): Promise<Store> => {
    const store = await openStore(home.path, clock, as, patience)
    const eyes = {
      ownDaemon,
      directories,
      processes,
      ...files,
      cgroups,
      spares,
      harnessDaemons,
      harnessDaemonRules,
      tokensOfRun,
      exitsZeroAfter,
      clock,
    }
    unreadable = await recoverStore(store, eyes, as)
    return store
  }
  const store: World['store'] = (as) => {
    const known = opened.get(as) ?? open(as)
    opened.set(as, known)
    return known
  }
  const world: World = {
    home: home.path,
    defaultHome: () => directories.realPath(homePath(undefined, {})),
    userFolder: () => env['HOME'] ?? homedir(),
    worktreesFolder,
    assets,
    env,
    policy,
    clock,
    processes,
    directories,
    connections: linuxConnections,
    own: ownProcess,
    ...files,
    keepers,
    panes,
    cgroups,
    containers: withFailpoints('containers', cgroupContainers),
    spares,
    harnesses: config.harnesses,
    ownHarnesses: config.ownHarnesses,
    toolPidFiles: config.toolPidFiles,
    readDatabase: readForeignDatabase,
    tokensOfRun,
    exitsZeroAfter,
    nestedAgents: nestedAgents(senses),
    recordNestedAgents: async (run, agents) => recordNestedAgents(senses, await store('writer'))(run, agents),
    learnAtEnd: (run) => recordInPassing()(async () => learnAtEnd(world, await store('writer'), run)),
    notifiers: systemNotifiers(env),
    notify: config.notify,
    configFile: config.file,
    configTrouble: config.trouble,
    homeTrouble: home.trouble,
    daemonPort: config.daemonPort,
    harnessDaemons,
    harnessDaemonRules,
    ask: (asking, environment, ms) => keepers.ask(asking, environment, ms),
    worktreeOrigins: withFailpoints('worktreeOrigins', originFiles(join(home.path, 'origins'))),
    worktrees: withFailpoints('worktrees', gitWorktrees(env, join(home.path, 'looks'))),
    branches: withFailpoints('branches', gitBranches(env, join(home.path, 'looks'))),
    workflows: workflowFiles(env, join(home.path, 'looks'), home.path, assets),
    work: config.work,
    sources: config.sources,
    source: ({ name, url, token }) => openHttpSource({ env, host: hostname() }, name, url, token),
    host: hostname(),
    user: userName,
    store,
    ownDaemon,
    unreadable: () => unreadable,
    liveRoots: () =>
      store('reader')
        .then((port) => port.runs.roots())
        .catch((error: unknown) => {
          if (error instanceof Problem) return rootsOnDisk(files.runRecords)
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
