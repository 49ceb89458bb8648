import type { Run } from '../../model/index.ts'
import { isLive, LINEAGE_VARIABLE, policy, sameProcess, signalsIn } from '../../model/index.ts'
import { asRunMarker, type Front, frontIn, markerIn } from '../world/front.ts'
import type { World } from '../world/world.ts'

/** Our parent, if it is bin/holdfast waiting for a plan, as far as that can be told without the store. */
export function frontOf({ env, own, processes }: Pick<World, 'env' | 'own' | 'processes'>): Front | null {
  const match = frontIn(env, own, () => processes.marker(processes.self().pid))
  if (match === null) return null
  const seen = processes.sample(own.parent())
  if (seen.kind !== 'seen') return null
  return {
    keeper: { pid: own.parent(), ticks: seen.row.ticks },
    marker: match[2] === '-' ? null : Number(match[2]),
    cookie: match[3] ?? '',
    outer: markerIn(match[4] ?? ''),
    ignores: match[5] === '-' ? own.parentIgnores() : signalsIn(match[5] ?? '0'),
  }
}

/** The same, if its marker is one that it has made: what carries that of a run on record was started in that run, and made the rest up. */
export async function provenFront(
  world: Pick<World, 'env' | 'own' | 'processes' | 'store'>,
  as: 'writer' | 'reader' = 'writer',
): Promise<Front | null> {
  const front = frontOf(world)
  if (front === null || front.marker === null) return front
  const run = await (await world.store(as)).runs.withMarker(front.marker)
  return run === null || (run.keeper !== null && sameProcess(run.keeper, front.keeper)) ? front : null
}

/** The run marker that the caller was born with: our own, unless our front has taken that since. */
export const bornWith = ({ processes }: Pick<World, 'processes'>, front: Front | null): number | null =>
  front === null ? asRunMarker(processes.marker(processes.self().pid)) : front.outer

/** The secrets of the runs this command was started in, outermost first; without the one its own front has just made. */
export function lineageOf({ env }: Pick<World, 'env'>, front: Front | null): string[] {
  const all = (env[LINEAGE_VARIABLE] ?? '').split(':').filter(Boolean)
  return front !== null && all.at(-1) === front.cookie ? all.slice(0, -1) : all
}

/**
 * The run this command was started in: by the marker it was born with. Environments get copied, so a run's secret speaks only for a run
 * that could not be given a marker.
 */
export async function parentRun(world: Pick<World, 'env' | 'own' | 'processes' | 'store'>, as: 'writer' | 'reader' = 'writer'): Promise<Run | null> {
  const store = await world.store(as)
  const front = await provenFront(world, as)
  const marker = bornWith(world, front)
  const marked = marker === null ? null : await store.runs.liveWithMarker(marker)
  const id = world.env['HOLDFAST_RUN']
  const named = id === undefined || marked !== null ? null : await store.runs.get(id)
  return parentIn(marked, named, lineageOf(world, front))
}

/** The same, from the runs that the marker and the environment name. */
export function parentIn(marked: Run | null, named: Run | null, lineage: readonly string[]): Run | null {
  if (marked !== null && isLive(marked)) return marked
  return named !== null && named.marker === null && lineage.includes(named.cookie) ? named : null
}

/** The ids of the runs above, nearest first. */
export async function ancestorsOf(world: Pick<World, 'store'>, parent: Run | null, as: 'writer' | 'reader' = 'writer'): Promise<string[]> {
  const ids: string[] = []
  if (parent === null) return ids
  const store = await world.store(as)
  for (
    let run: Run | null = parent;
    run !== null && ids.length < policy.nestingDepth;
    run = run.parent === null ? null : await store.runs.get(run.parent)
  )
    ids.push(run.id)
  return ids
}
