import { Problem, policy } from '../model/index.ts'
import type { Daemon } from './index.ts'
import type { Part } from './loop.ts'

/** A configuration that makes no sense is left out of account by everybody; here it is seen that it is. */
export const configPart = ({ worlds }: Daemon): Part => ({
  name: 'config',
  everyMs: policy.daemonPaceMs,
  round: () =>
    worlds.use(async (world) => {
      world.ownHarnesses()
      const trouble = world.configTrouble()
      if (trouble !== null)
        throw new Problem('usage', `${trouble}; it is left out of account`, { hint: 'put it right: it is read anew with every round' })
      return {}
    }),
})
