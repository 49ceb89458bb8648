import type { Holding } from '../../decide/index.ts'
import { type Directory, Problem } from '../../model/index.ts'
import { type CheckView, unreadableRunText } from '../../show/index.ts'
import { ancestorsOf } from '../caller/caller.ts'
import { runAround } from '../caller/who-am-i.ts'
import { unreadableRuns } from '../recover/unreadable-runs.ts'
import type { World } from '../world/world.ts'
import { holdingsOn, pidOf, whoseLocks } from './judge-locks.ts'

/** Is it in use? Nobody's processes are looked at but those of who is in the way, and nothing is written. */
export async function checkLock(world: World, dir: string): Promise<CheckView> {
  const directory = enterable(dir, world.directories)
  if (typeof directory === 'string') return { dir, state: 'unknown', own: false, holding: null, why: directory }
  const store = await world.store('reader')
  const { locks } = await store.locks.all([], null)
  const holdings = await holdingsOn(world, store, directory, locks)
  const inUse = holdings.map((holding) => answerFor(directory.path, holding)).filter(({ state }) => state !== 'free')
  const [unread] = unreadableRuns(world)
  if (inUse.length === 0 && unread !== undefined)
    return { dir: directory.path, state: 'unknown', own: false, holding: null, why: unreadableRunText(unread) }
  if (inUse.length === 0) return { dir: directory.path, state: 'free', own: false, holding: null, why: 'nobody holds it' }
  const around = await ancestorsOf(world, await runAround(world, 'reader'), 'reader')
  const { ours } = await whoseLocks(world, store, { ancestors: around })
  // It is the caller's own only if nobody else is there.
  const isOwn = ({ holding }: CheckView): boolean => ours.some(({ seq }) => seq === holding?.lock.seq)
  const strangers = inUse.filter((answer) => !isOwn(answer))
  const worst = strangers.find(({ state }) => state === 'held') ?? strangers[0]
  return worst ?? { ...(inUse[0] as CheckView), own: true }
}

/** Why it cannot be told what is there, if it is there. */
function enterable(dir: string, directories: World['directories']): Directory | string {
  try {
    return directories.find(dir)
  } catch (error) {
    if (error instanceof Problem && error.id === 'directory-unreadable') return error.message
    throw error
  }
}

function answerFor(dir: string, holding: Holding): CheckView {
  const { lock, relation, worksIn, verdict } = holding
  return { dir, state: verdict.kind, own: false, why: verdict.why, holding: { lock, relation, worksIn, pid: pidOf(holding) } }
}
