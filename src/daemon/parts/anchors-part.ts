import { sweepAnchors } from '../../app/index.ts'
import { policy } from '../../model/index.ts'
import type { Daemon } from '../daemon.ts'
import type { Part } from '../frame/loop.ts'

/** Removes the files that proven dead agents and tools left about themselves: at the start of the daemon, and from time to time. */
export const anchorsPart = ({ worlds, log }: Pick<Daemon, 'worlds' | 'log'>): Part => ({
  name: 'anchors',
  everyMs: policy.daemonPruneMs,
  async round() {
    const removed = await worlds.use(async (world) => sweepAnchors(world))
    if (removed.length > 0) log(`anchors: removed ${removed.slice(0, policy.namedAtMost).join(', ')}${more(removed.length)}`)
    return { removed: removed.length }
  },
})

const more = (count: number): string => (count > policy.namedAtMost ? ` and ${count - policy.namedAtMost} more` : '')
