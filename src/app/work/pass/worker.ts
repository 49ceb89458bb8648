import type { SourceHealth, Store, WatchedRun, WorkConfig, WorkRequest } from '../../../model/index.ts'
import type { World } from '../../world/world.ts'
import { type RepositoryWork, workOfRepository } from './workflow.ts'

/** What a worker remembers between its passes. A worker without it only looks again. */
export type WorkerMemory = { readonly watched: Map<string, WatchedRun>; readonly sources: Map<string, SourceHealth> }
export const newWorkerMemory = (): WorkerMemory => ({ watched: new Map(), sources: new Map() })

/** A step that failed by itself: it is tried again, and holds up no other. */
export type WorkTrouble = { readonly request: string | null; readonly step: string; readonly why: string }

/** What a pass did, a line for each change. */
export type WorkPass = { readonly changes: string[]; readonly troubles: WorkTrouble[]; readonly counts: Record<string, number> }

/** One pass of a worker, with what it has read for it. */
export type Pass = {
  readonly world: World
  readonly store: Store
  readonly config: WorkConfig
  readonly memory: WorkerMemory
  /** What a repository says about its work, read once a pass. */
  readonly workOf: (repo: string) => Promise<RepositoryWork>
  readonly done: WorkPass
}

export async function newPass(world: World, memory: WorkerMemory): Promise<Pass> {
  const known = new Map<string, Promise<RepositoryWork>>()
  const workOf: Pass['workOf'] = (repo) => {
    const work = known.get(repo) ?? workOfRepository(world, repo)
    known.set(repo, work)
    return work
  }
  return { world, store: await world.store('writer'), config: world.work(), memory, workOf, done: { changes: [], troubles: [], counts: {} } }
}

export const holdsOf = ({ id, token }: WorkRequest): { readonly id: string; readonly token: number } => ({ id, token })

/** A step in a net: its failure is noted, and ends nothing else. */
export async function inNet({ done }: Pick<Pass, 'done'>, request: string | null, step: string, body: () => Promise<unknown>): Promise<boolean> {
  try {
    await body()
    return true
  } catch (error) {
    done.troubles.push({ request, step, why: error instanceof Error ? error.message : String(error) })
    return false
  }
}

/** So many at a time, each in turn. */
export async function someAtATime<T>(all: readonly T[], most: number, body: (one: T) => Promise<unknown>): Promise<void> {
  const left = [...all]
  await Promise.all(
    Array.from({ length: Math.min(most, left.length) }, async () => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) await body(one)
    }),
  )
}
