import { isThere } from '../../act/index.ts'
import { nativeIn } from '../../decide/index.ts'
import { agentsAmong, callingHarness, HOOK_WORDS } from '../../harness/index.ts'
import type { BindAnswer, Candidate, NativeId, Run } from '../../model/index.ts'
import { isLive, sameProcess } from '../../model/index.ts'
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
  /** What a plain agent is told at a prompt, as its harness hears it; null: nothing. */
  readonly warnPlain: (harness: string, payload: Readonly<Record<string, unknown>>) => Promise<string | null>
  readonly close: () => void
}

export const hookHelp = (world: World): HookHelp => ({
  ...closeLook(world),
  isAbout: (run) => isAbout(world, run),
  bind: async (run, native) => bind(world, await world.store('writer'), run, native, { how: 'hook' }),
  recover: async () => void (await world.store('writer')),
  warnPlain: (harness, payload) => warnPlain(world, callingHarness(harness, world.env), nativeIn(payload)),
  close: world.close,
})

/** An agent in no run of ours is given a prompt. Where a live session has that conversation, both write to the same transcript. */
async function warnPlain(
  { evidence, processes, store: open }: Pick<World, 'evidence' | 'processes' | 'store'>,
  harness: string,
  native: string | null,
): Promise<string | null> {
  const owner = native === null ? null : await (await open('reader')).conversations.owner({ harness, id: native })
  const agent = owner === null || owner.run === null || !isLive(owner.run) ? null : evidence.harness(owner.run.id)
  if (owner === null || agent === null || !isThere(agent, processes)) return null
  // Its own agent, which has lost its environment.
  if (processes.origins().some((one) => sameProcess(one, agent))) return null
  const { id } = owner.session
  const text = `Holdfast: session ${id} (pid ${agent.pid}) is alive in this conversation, and both write to the same transcript. Leave this agent, and go on there: holdfast attach ${id}, or take it over: holdfast resume ${id} --takeover`
  return HOOK_WORDS[harness]?.atPrompt(text) ?? null
}

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
