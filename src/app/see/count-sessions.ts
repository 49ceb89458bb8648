import { liveRunsOf } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** How many live sessions are in a state, of a kind of agent; null: of no kind that is known. */
export type SessionCount = { readonly state: string; readonly harness: string | null; readonly count: number }

/** As the store has it: nobody's processes are looked at, and nothing is written. */
export async function countSessions(world: Pick<World, 'policy' | 'store'>): Promise<SessionCount[]> {
  const { views } = await (await world.store('reader')).sessions.snapshot('live', world.policy.sessionsShown)
  const harnesses = new Map(views.map(({ session }) => [session.id, session.harness]))
  const counts = new Map<string, SessionCount>()
  for (const { state, session } of liveRunsOf(views)) {
    const harness = harnesses.get(session) ?? null
    const key = `${state} ${harness}`
    counts.set(key, { state, harness, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}
