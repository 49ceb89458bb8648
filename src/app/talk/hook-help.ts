import { agentsAmong } from '../../harness/index.ts'
import type { BindAnswer, Candidate, NativeId, Run } from '../../model/index.ts'
import { sameProcess } from '../../model/index.ts'
import { bind } from '../conversation/bind.ts'
import { type CloseLook, closeLook } from '../see/close-look.ts'
import { candidateOf } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'

/** The rare parts of a hook's work: they need all that is known of harnesses, or all processes. */
export type HookHelp = CloseLook & {
  /** Is the hook that of the agent which the run is about? */
  readonly isAbout: (run: Run) => boolean
  readonly bind: (run: Run, native: NativeId) => Promise<BindAnswer>
  /** Tells a lost or older store what the run directories know. */
  readonly recover: () => Promise<void>
  readonly close: () => void
}

export const hookHelp = (world: World): HookHelp => ({
  ...closeLook(world),
  isAbout: (run) => isAbout(world, run),
  bind: async (run, native) => bind(world, await world.store('writer'), run, native, { how: 'hook' }),
  recover: async () => void (await world.store('writer')),
  close: world.close,
})

/** It is if it is the only agent between the hook and the command that the run is. */
function isAbout({ processes, evidence, ownHarnesses }: Pick<World, 'evidence' | 'ownHarnesses' | 'processes'>, run: Run): boolean {
  const command = evidence.harness(run.id)
  const origins = processes.origins()
  const last = command === null ? -1 : origins.findIndex((one) => sameProcess(one, command))
  if (last < 0) return false
  const candidates = origins.slice(0, last + 1).flatMap(({ pid, ticks }): Candidate[] => {
    const seen = processes.sample(pid)
    if (seen.kind !== 'seen' || seen.row.ticks !== ticks) return []
    return [candidateOf(processes, seen.row)]
  })
  return agentsAmong(candidates, [], ownHarnesses()).length <= 1
}
