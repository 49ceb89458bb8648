import type { ProcessId, Run } from '../model/index.ts'
import { isRunMarker, LINEAGE_VARIABLE, MAX_LINEAGE, Problem, policy } from '../model/index.ts'
import { ignoredSignals, ownMarker, signalsIn } from '../observe/index.ts'
import type { World } from './world.ts'

/** The shell that waits to become the keeper, with the marker and cookie it already carries. */
export type Front = {
  readonly keeper: ProcessId
  readonly marker: number | null
  readonly cookie: string
  /** The marker it was born with. */
  readonly outer: number | null
  /** The numbers of the signals that its caller ignores. */
  readonly ignores: ReadonlySet<number>
}

/** Our parent, if it is bin/holdfast waiting for a plan; an inherited variable names another pid. */
export function frontOf({ env, processes }: World): Front | null {
  const match = frontIn(env)
  if (match === null) return null
  const seen = processes.sample(process.ppid)
  if (seen.kind !== 'seen') return null
  return {
    keeper: { pid: process.ppid, ticks: seen.row.ticks },
    marker: match[2] === '-' ? null : Number(match[2]),
    cookie: match[3] ?? '',
    outer: markerIn(match[4] ?? ''),
    ignores: match[5] === '-' ? ignoredSignals(process.ppid) : signalsIn(match[5] ?? '0'),
  }
}

function frontIn(env: NodeJS.ProcessEnv): RegExpExecArray | null {
  const match = /^(\d+) (\d+|-) ([0-9a-f-]{36}) (\S+) ([0-9a-f]+|-)$/.exec(env['HOLDFAST_FRONT'] ?? '')
  return match !== null && Number(match[1]) === process.ppid ? match : null
}

/** The run marker that the caller was born with: its own, unless its own front has taken that since. */
export function bornWith(env: NodeJS.ProcessEnv, own: number | null | undefined): number | null {
  const front = frontIn(env)
  if (front !== null) return markerIn(front[4] ?? '')
  return typeof own === 'number' && isRunMarker(own) ? own : null
}

/** The secrets of the runs this command was started in, outermost first; without the one its own front has just made. */
export function lineageOf({ env }: World, front: Front | null): string[] {
  const all = (env[LINEAGE_VARIABLE] ?? '').split(':').filter(Boolean)
  const lineage = front !== null && all.at(-1) === front.cookie ? all.slice(0, -1) : all
  if (lineage.length >= MAX_LINEAGE) {
    throw new Problem('usage', `runs are nested ${lineage.length} deep; that looks like an agent that starts itself`, {
      hint: 'start it outside the session',
    })
  }
  return lineage
}

/**
 * The run this command was started in: by the marker it was born with. Environments get copied, so a run's secret speaks only for a run
 * that could not be given a marker.
 */
export async function parentRun(world: World, front: Front | null, as: 'writer' | 'reader' = 'writer'): Promise<Run | null> {
  const store = await world.store(as)
  const marker = front === null ? ownMarker() : front.outer
  const marked = marker === null ? null : await store.runByMarker(marker)
  if (marked !== null) return marked
  const id = world.env['HOLDFAST_RUN']
  const named = id === undefined ? null : await store.run(id)
  return named !== null && named.marker === null && lineageOf(world, front).includes(named.cookie) ? named : null
}

const markerIn = (text: string): number | null => (/^\d+$/.test(text) && isRunMarker(Number(text)) ? Number(text) : null)

/** The ids of the runs above, nearest first. */
export async function ancestorsOf(world: World, parent: Run | null, as: 'writer' | 'reader' = 'writer'): Promise<string[]> {
  const ids: string[] = []
  if (parent === null) return ids
  const store = await world.store(as)
  for (let run: Run | null = parent; run !== null && ids.length < policy.nestingDepth; run = run.parent === null ? null : await store.run(run.parent))
    ids.push(run.id)
  return ids
}
