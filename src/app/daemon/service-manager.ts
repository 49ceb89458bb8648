import { Problem } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import type { Manager } from './manager.ts'
import { launchdManager } from './service-launchd.ts'
import { systemdManager } from './service-systemd.ts'

export function serviceManager(world: World, platform: NodeJS.Platform = process.platform): Manager {
  if (platform === 'linux') return systemdManager(world)
  if (platform === 'darwin') return launchdManager(world)
  throw new Problem('service-unsupported', `services are not known on ${platform}`, { hint: 'holdfast daemon start runs the daemon without one' })
}
