import { reconcile } from '../app/index.ts'
import { policy } from '../model/index.ts'
import type { Daemon } from './index.ts'
import type { Part } from './loop.ts'

export const reconcilePart = ({ worlds }: Daemon): Part => ({
  name: 'reconcile',
  everyMs: policy.daemonPaceMs,
  round: async () => ({ changes: (await worlds.use(reconcile)).length }),
})
