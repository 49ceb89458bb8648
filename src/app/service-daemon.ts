import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isThere } from '../act/index.ts'
import type { DaemonRecord, HomesDaemon } from '../model/index.ts'
import { Problem } from '../model/index.ts'
import type { World } from './world.ts'

/** The home's daemon, as a service has to do with it. */
export type ServiceDaemon = {
  /** A text says why it cannot be told. */
  look(): HomesDaemon | string | null
  /** Ends it, and sees it gone. */
  stop(): Promise<void>
}

/** By what it wrote down of itself, if that process lives. */
export function serviceDaemon(world: World): ServiceDaemon {
  const look = (): HomesDaemon | null => {
    try {
      const { process, startedBy } = JSON.parse(readFileSync(join(world.home, 'daemon', 'daemon.json'), 'utf8')) as DaemonRecord
      return isThere(process, world.processes) ? { process, startedBy } : null
    } catch {
      return null
    }
  }
  return {
    look,
    async stop() {
      const { clock, policy, processes } = world
      const target = look()
      if (target === null) return
      processes.send(target.process, 'SIGTERM')
      for (const until = clock.elapsed() + policy.graceMs; isThere(target.process, processes); await clock.sleep(policy.pollMaxMs))
        if (clock.elapsed() >= until) throw new Problem('survivors', `the daemon (pid ${target.process.pid}) does not end`, { hint: 'end it first' })
    },
  }
}
