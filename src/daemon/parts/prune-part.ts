import { type Litter, prune } from '../../app/index.ts'
import { policy } from '../../model/index.ts'
import type { Daemon } from '../daemon.ts'
import type { Part } from '../frame/loop.ts'

/** Removes what the dead left, as `prune` does; but worktrees are removed only where a person asks for it. */
export const prunePart = ({ worlds, log }: Pick<Daemon, 'worlds' | 'log'>): Part => ({
  name: 'prune',
  everyMs: policy.daemonPruneMs,
  afterMs: policy.daemonPruneFirstMs,
  async round() {
    const found = await worlds.use((world) => prune(world, false, { worktrees: false }))
    const removed = found.filter(({ keep }) => !keep)
    if (removed.length > 0) log(`prune: removed ${removed.slice(0, policy.namedAtMost).map(nameOf).join(', ')}${more(removed.length)}`)
    return { removed: removed.length, kept: found.length - removed.length }
  },
})

const nameOf = ({ kind, what }: Litter): string => `${kind} ${what}`
const more = (count: number): string => (count > policy.namedAtMost ? ` and ${count - policy.namedAtMost} more` : '')
