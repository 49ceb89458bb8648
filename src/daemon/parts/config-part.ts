import { policy } from '../../model/index.ts'
import type { Daemon } from '../daemon.ts'
import type { Part } from '../frame/loop.ts'

/** A configuration that makes no sense is left out of account by everybody; here it is seen that it is. */
export function configPart({ worlds }: Daemon): Part {
  let trouble: string | null = null
  return {
    name: 'config',
    everyMs: policy.daemonPaceMs,
    round: () =>
      worlds.use(async (world) => {
        world.ownHarnesses()
        trouble = world.configTrouble()
        return {}
      }),
    trouble: () => (trouble === null ? null : `${trouble}; it is left out of account: put it right, it is read anew with every round`),
  }
}
