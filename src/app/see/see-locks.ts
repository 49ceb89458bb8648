import { areWorktrees, type LockVerdict, leftOf } from '../../decide/index.ts'
import type { Lock, Store } from '../../model/index.ts'
import type { LockView } from '../../show/index.ts'
import { judgeLocks, pathNow } from '../lock/judge-locks.ts'
import { recordInPassing } from '../world/best-effort-write.ts'
import type { World } from '../world/world.ts'
import { seeAll } from './look-at-sessions.ts'

/** Every directory that is held, by whom, and what proves it. Locks that nobody holds any more are taken away in passing. */
export async function seeLocks(world: World): Promise<LockView[]> {
  // Runs that are over are recorded so first, and their locks go with them.
  await seeAll(world, 'live')
  const store = await world.store('reader')
  return sightsOf(world, await heldLocks(world, store))
}

/** What is beside a session on purpose, or in another worktree of its repository. */
export async function besideSession(world: World, session: string): Promise<Pick<LockView, 'sharedWith' | 'neighbours'>> {
  const store = await world.store('reader')
  const own = sightsOf(world, await heldLocks(world, store)).filter(({ lock }) => lock.session === session && lock.holder.kind === 'run')
  return { sharedWith: own.flatMap(({ sharedWith }) => sharedWith), neighbours: own.flatMap(({ neighbours }) => neighbours) }
}

type Judged = readonly [Lock, Exclude<LockVerdict, { kind: 'free' }>]

/** Those that somebody holds. What nobody does any more is taken away in passing, where that is possible at once. */
export async function heldLocks(world: World, store: Store): Promise<Judged[]> {
  const { locks } = await store.locks.all([], null)
  const judged = await judgeLocks(world, locks)
  const held: Judged[] = []
  const record = recordInPassing()
  for (const lock of locks) {
    const state = judged.get(lock.seq)
    if (state === undefined) continue
    if (state.kind !== 'free') held.push([lock, state])
    else if (await isNobodys(store, lock)) await record(() => store.locks.free(lock, null, world.clock.now()))
  }
  return held
}

/** The lock of a run on record goes when that run's end is recorded, not before. */
async function isNobodys(store: Store, lock: Lock): Promise<boolean> {
  return lock.holder.kind !== 'run' || lock.run === null || !(await store.runs.liveAmong([lock.run])).has(lock.run)
}

function sightsOf(world: Pick<World, 'clock' | 'directories' | 'evidence' | 'processes'>, held: readonly Judged[]): LockView[] {
  const { clock, directories, processes } = world
  const mounts = directories.mounts()
  const now = { here: processes.here(), ticks: processes.ticks(), at: clock.now() }
  return held.map(([lock, state]) => {
    const others = held.flatMap(([other]) => (other.seq === lock.seq ? [] : [other]))
    const sharing = others.filter((other) => isShared(lock, other) || isShared(other, lock))
    const path = pathNow(world, lock, mounts)
    return {
      lock,
      movedTo: path === lock.directory.path ? null : path,
      state: state.kind,
      proof: state.why,
      pid: state.kind === 'held' ? state.pid : null,
      leftMs: lock.holder.kind === 'run' || lock.holder.limit === null ? null : leftOf(lock.holder.limit, lock.place, now),
      sharedWith: sharing.map(nameOf),
      neighbours: others.filter((other) => areWorktrees(lock.directory, other.directory)).map(nameOf),
    }
  })
}

const isShared = (one: Lock, other: Lock): boolean => one.shared.some(({ run, dir }) => run === other.run && dir === other.directory.path)
const nameOf = ({ session, user, directory }: Lock): string => `${session ?? user} in ${directory.path}`

/** Was this run started beside others on purpose? */
export async function wasShared(world: Pick<World, 'store'>, run: string): Promise<boolean> {
  const { locks } = await (await world.store('reader')).locks.all([], null)
  return locks.some((lock) => lock.run === run && lock.holder.kind === 'run' && lock.shared.length > 0)
}
