import { HEALTHY } from '../../../decide/index.ts'
import { policy, type SourceHealth, type SourceSettings, type WorkRequest } from '../../../model/index.ts'
import { type SourceCounts, sourceRound } from '../../source/source-round.ts'
import type { World } from '../../world/world.ts'
import { seeRuns } from './facts.ts'
import { newPass, type Pass, type WorkerMemory } from './worker.ts'

/** A source after a pass. */
export type SourcePass = { readonly name: string; readonly health: SourceHealth; readonly counts: SourceCounts | null }

/** One pass over every source. Each is asked by itself, so one that does not answer holds up no other. */
export async function sourcesPass(world: World, memory: WorkerMemory): Promise<SourcePass[]> {
  const sources = world.sources()
  if (sources.length === 0) return []
  const pass = await newPass(world, memory)
  const open = (await pass.store.requests.list('open', policy.requestsShown)).filter(({ order }) => order.source !== null)
  const seen = await seeRuns(
    pass,
    open.filter(({ state }) => state === 'running'),
  )
  // A run that cannot be proven alive proves nothing to its source either.
  const isHeld = async (request: WorkRequest): Promise<boolean> => {
    if (request.state !== 'running') return true
    const run = seen.get(request.id)?.run
    return run?.kind === 'live' && run.liveness === 'alive'
  }
  return Promise.all(sources.map((settings) => passOver(pass, settings, isHeld)))
}

async function passOver(pass: Pass, settings: SourceSettings, isHeld: (request: WorkRequest) => Promise<boolean>): Promise<SourcePass> {
  const { world, store, memory } = pass
  const { name } = settings
  const before = memory.sources.get(name) ?? HEALTHY
  try {
    const ports = {
      source: world.source(settings),
      settings,
      clock: world.clock,
      random: () => world.clock.random(),
      install: world.processes.here().install,
      isHeld,
    }
    const { health, counts } = await sourceRound(ports, store, before)
    memory.sources.set(name, health)
    return { name, health, counts }
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    const health: SourceHealth = { ...before, state: 'retrying', failures: before.failures + 1, cause, nextAt: null }
    memory.sources.set(name, health)
    return { name, health, counts: null }
  }
}
