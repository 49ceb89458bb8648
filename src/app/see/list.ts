import { registeredAgents } from '../../harness/index.ts'
import { isDead, isLive, sameProcess } from '../../model/index.ts'
import type { SessionView } from '../../show/index.ts'
import { type Around, lookAround } from '../agent/find-agents.ts'
import type { World } from '../world/world.ts'
import { withFirstWords } from './first-words.ts'
import { seeAll } from './look-at-sessions.ts'

export type Listed = Around & { readonly unreadable: readonly string[] }

/**
 * What `ls` shows. All agents at work are looked at only where that is asked for, since it takes a pass over everybody's command line; without,
 * two owners of one native id are found where the harnesses themselves tell of both, which costs next to nothing.
 */
export async function listSessions(world: World, which: 'live' | 'all', around: boolean): Promise<Listed> {
  const seen = await seeAll(world, which)
  const { unreadable } = seen
  const sights = withFirstWords(world, seen.sights)
  if (!around && !tellOfTwo(world, sights)) return { sights, unmanaged: [], duplicates: [], unreadable }
  const { unmanaged, ...flagged } = await lookAround(world, sights)
  return { ...flagged, unmanaged: around ? unmanaged : [], unreadable }
}

/** Do the harnesses list two live processes under the native id of one of these sessions? */
function tellOfTwo({ env, processes }: Pick<World, 'env' | 'processes'>, sights: readonly SessionView[]): boolean {
  const wanted = new Set(
    sights.flatMap(({ session, run }) => (session.native !== null && isLive(run) ? [`${session.harness} ${session.native}`] : [])),
  )
  if (wanted.size === 0) return false
  const once = new Set<string>()
  return registeredAgents(env, () => true).some(({ harness, nativeId, service, process: agent }) => {
    const key = `${harness} ${nativeId}`
    if (service || !wanted.has(key)) return false
    const seen = processes.sample(agent.pid)
    if (seen.kind !== 'seen' || !sameProcess(seen.row, agent) || isDead(seen.row.state)) return false
    const again = once.has(key)
    once.add(key)
    return again
  })
}
