import type { SessionView } from '../../show/index.ts'
import { placesOf } from '../usage/usage-baseline.ts'
import type { World } from '../world/world.ts'

/** A list is there at once: the words of those that are not reached in this time are not told. */
const READ_MS = 60

type Ports = Pick<World, 'clock' | 'env' | 'harnesses' | 'readDatabase' | 'usageFiles'>

/** The same sights, with the first words of the conversations that their harnesses keep on disk. */
export function withFirstWords(world: Ports, sights: readonly SessionView[]): SessionView[] {
  const until = world.clock.elapsed() + READ_MS
  const known = new Map(world.harnesses().map((harness) => [harness.name, harness]))
  return sights.map((sight) => {
    const { harness, native } = sight.session
    const sessions = harness === null ? null : (known.get(harness)?.sessions ?? null)
    if (sessions === null || native === null || world.clock.elapsed() >= until) return sight
    return { ...sight, about: sessions.words(placesOf(world, sight.run.id), native, world.readDatabase) }
  })
}
