import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runFiles } from '../../keep/index.ts'
import type { Processes, Store } from '../../model/index.ts'
import { policy } from '../../model/index.ts'
import { linuxProcesses, ownProcess, readPlace, realDirectories } from '../../observe/index.ts'
import { compare } from '../recover/compare.ts'
import type { HookHelp } from '../talk/hook-help.ts'
import type { HookWorld } from '../talk/hook-world.ts'
import { realClock } from '../world/clock.ts'
import { eachWithFailpoints, withFailpoints } from '../world/failpoints.ts'
import { findInstallId } from './install-id.ts'
import { openStore } from './open-store.ts'

/** The world of the run that a hook is called in. Null: its home is gone, and a hook makes none. */
export function openHookWorld(env: NodeJS.ProcessEnv, loadHelp: (home: string) => HookHelp): HookWorld | null {
  const found = homeOfRun(env)
  if (found === null) return null
  const { home, install } = found
  const files = eachWithFailpoints(runFiles(home))
  let processes: Processes | null = null
  let opened: Promise<Store> | null = null
  let helper: HookHelp | null = null
  const help = (): HookHelp => {
    helper ??= loadHelp(home)
    return helper
  }
  const open = async (): Promise<Store> => {
    const store = await openStore(home, realClock, 'writer')
    const { missing, isNew } = await compare(store, files.runRecords, realClock.now())
    if (missing.length > 0 || isNew) await help().recover()
    return store
  }
  return {
    env,
    policy,
    clock: realClock,
    own: ownProcess,
    directories: realDirectories(join(home, 'worktrees')),
    ...files,
    get processes() {
      processes ??= withFailpoints('processes', linuxProcesses(readPlace(install)))
      return processes
    },
    store: () => {
      opened ??= open()
      return opened
    },
    help,
    closeLook: help,
    close: () => {
      helper?.close()
      // A store that never opened, or cannot be closed, is no trouble any more.
      opened?.then((store) => store.close()).catch(() => {})
    },
  }
}

/** The fence lies in the home of the run (`runs/RUN/retired`), whatever another variable says. */
function homeOfRun(env: NodeJS.ProcessEnv): { readonly home: string; readonly install: string } | null {
  try {
    const home = realpathSync(dirname(dirname(dirname(env['HOLDFAST_FENCE'] ?? ''))))
    const install = findInstallId(home, () => runFiles(home).runRecords)
    return install === null ? null : { home, install: install.id }
  } catch {
    return null
  }
}
