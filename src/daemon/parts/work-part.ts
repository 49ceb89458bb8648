import { newWorkerMemory, sourcesPass, workPass } from '../../app/index.ts'
import { policy } from '../../model/index.ts'
import { sourceText } from '../../show/index.ts'
import type { Daemon } from '../daemon.ts'
import type { Part } from '../frame/loop.ts'

/** Works on requests, and asks the sources that they come from. Each goes on while the other waits or fails. */
export function workParts({ worlds, log }: Pick<Daemon, 'worlds' | 'log'>): Part[] {
  const memory = newWorkerMemory()
  let troubles: string[] = []
  let unwell: string[] = []
  return [
    {
      name: 'work',
      everyMs: policy.workPaceMs,
      async round() {
        const pass = await worlds.use(async (world) => (world.work().daemon ? workPass(world, memory) : null))
        for (const change of pass?.changes ?? []) log(`work: ${change}`)
        troubles = (pass?.troubles ?? []).map(({ request, step, why }) => `${request === null ? '' : `${request}: `}${step}: ${why}`)
        return pass?.counts ?? {}
      },
      trouble: () => firstOf(troubles),
    },
    {
      name: 'sources',
      everyMs: policy.workPaceMs,
      async round() {
        const passes = await worlds.use(async (world) => (world.work().daemon ? sourcesPass(world, memory) : []))
        unwell = passes.flatMap(({ name, health }) => (health.state === 'ok' ? [] : [sourceText(name, health)]))
        return { sources: passes.length, unwell: unwell.length }
      },
      trouble: () => firstOf(unwell),
    },
  ]
}

const firstOf = (all: readonly string[]): string | null => (all.length === 0 ? null : all.slice(0, policy.namedAtMost).join('; '))
