import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runFiles } from '../keep/index.ts'
import type { Processes, Store } from '../model/index.ts'
import { policy } from '../model/index.ts'
import { linuxProcesses, readPlace } from '../observe/index.ts'
import { realClock } from './clock.ts'
import { withFailpoints } from './failpoints.ts'
import type { HookHelp } from './hook-help.ts'
import { openStore } from './open-store.ts'
import type { World } from './world.ts'

/** What a hook may touch. Each part is opened when it is first needed: a prompt waits for all of them. */
export type HookWorld = Pick<World, 'env' | 'policy' | 'clock' | 'islands' | 'processes' | 'files'> & {
  readonly store: () => Promise<Store>
  readonly help: () => HookHelp
  readonly closeLook: () => HookHelp
  readonly close: () => void
}

/** The world of the run that a hook is called in. Null: its home is gone, and a hook makes none. */
export function openHookWorld(env: NodeJS.ProcessEnv, loadHelp: (home: string) => HookHelp): HookWorld | null {
  const found = homeOfRun(env)
  if (found === null) return null
  const { home, install } = found
  let processes: Processes | null = null
  let opened: Promise<Store> | null = null
  let helper: HookHelp | null = null
  const help = (): HookHelp => {
    helper ??= loadHelp(home)
    return helper
  }
  const open = async (): Promise<Store> => {
    const store = await openStore(home, realClock, 'writer')
    if (await store.isEmpty()) await help().recover()
    return store
  }
  return {
    env,
    policy,
    clock: realClock,
    islands: join(home, 'worktrees'),
    files: withFailpoints('files', runFiles(home)),
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

/** The fence lies in the home: `runs/RUN/retired`. */
function homeOfRun(env: NodeJS.ProcessEnv): { readonly home: string; readonly install: string } | null {
  try {
    const home = realpathSync(env['HOLDFAST_HOME'] || dirname(dirname(dirname(env['HOLDFAST_FENCE'] ?? ''))))
    return { home, install: readFileSync(join(home, 'install'), 'utf8').trim() }
  } catch {
    return null
  }
}
