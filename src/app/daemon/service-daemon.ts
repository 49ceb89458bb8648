import type { HomesDaemon } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { stopDaemon } from './control.ts'
import { daemonPlace } from './place.ts'

/** The home's daemon, as a service has to do with it. */
export type ServiceDaemon = {
  /** A text says why it cannot be told. */
  look(): HomesDaemon | string | null
  /** Ends it, and sees it gone. */
  stop(): Promise<void>
}

export const serviceDaemon = (world: Pick<World, 'clock' | 'connections' | 'home' | 'policy' | 'processes' | 'user'>): ServiceDaemon => ({
  look() {
    const presence = daemonPlace(world).presence()
    if (presence.kind === 'unseen') return presence.why
    return presence.kind === 'alive' ? { process: presence.process, startedBy: presence.record?.startedBy ?? null } : null
  },
  stop: async () => void (await stopDaemon(world)),
})
