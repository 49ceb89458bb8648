import type { Holding } from '../decide/index.ts'
import { findDirectory } from '../observe/index.ts'
import type { CheckSight } from '../show/index.ts'
import { ancestorsOf, frontOf, parentRun } from './caller.ts'
import { holdingsOn, pidOf, whoseLocks } from './locks.ts'
import type { World } from './world.ts'

/** Is it in use? Nobody's processes are looked at but those of who is in the way, and nothing is written. */
export async function checkLock(world: World, dir: string): Promise<CheckSight> {
  const directory = findDirectory(dir, world.islands)
  const store = await world.store('reader')
  const { locks } = await store.locks([], null)
  const holdings = await holdingsOn(world, store, directory, locks)
  const inUse = holdings.map((holding) => answerFor(directory.path, holding)).filter(({ state }) => state !== 'free')
  const worst = inUse.find(({ state }) => state === 'held') ?? inUse[0]
  if (worst === undefined) return { dir: directory.path, state: 'free', own: false, holding: null, why: 'nobody holds it' }
  const around = await ancestorsOf(world, await parentRun(world, frontOf(world), 'reader'), 'reader')
  const { ours } = await whoseLocks(world, store, { ancestors: around })
  // It is the caller's own only if nobody else is there.
  const isOwn = ({ holding }: CheckSight): boolean => ours.some(({ seq }) => seq === holding?.lock.seq)
  return inUse.find((answer) => answer.state === worst.state && !isOwn(answer)) ?? { ...worst, own: true }
}

function answerFor(dir: string, holding: Holding): CheckSight {
  const { lock, relation, verdict } = holding
  return { dir, state: verdict.kind, own: false, why: verdict.why, holding: { lock, relation, pid: pidOf(holding) } }
}
