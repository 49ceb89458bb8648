import type { Holding } from '../../decide/index.ts'
import type { Directory, HandHolder, Lock, ProcessId, Run, Store } from '../../model/index.ts'
import { Problem, sameProcess } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { holdingsOn, whoseLocks } from './judge-locks.ts'

/** What is held by hand, by whom and why. `around`: the run it is taken in, and those around that, nearest first. */
export type Hold = {
  readonly directory: Directory
  readonly holder: HandHolder
  readonly reason: string
  readonly parent: Run | null
  readonly around: readonly string[]
  /** Nobody is exempt: not even what the caller itself is part of. */
  readonly strict?: boolean
}

/** Takes a directory by hand, or answers who is in the way. */
export async function hold(world: World, store: Store, wanted: Hold): Promise<Lock | Holding> {
  const { directory, holder, reason, parent, around } = wanted
  for (let steps = 0; steps < world.policy.claimSteps; steps++) {
    const { ours, theirs, newest } = await whoseLocks(world, store, { ancestors: around })
    const before = [...ours, ...theirs].filter((lock) => isSame(lock, directory, holder))
    const strangers = (wanted.strict === true ? [...ours, ...theirs] : theirs).filter((lock) => !before.includes(lock))
    const holdings = await holdingsOn(world, store, directory, strangers)
    const inTheWay = holdings.find(({ verdict }) => verdict.kind === 'held') ?? holdings.find(({ verdict }) => verdict.kind === 'unknown')
    if (inTheWay !== undefined) return inTheWay
    if (!(await cleared(world, store, holdings))) continue
    const lock: Omit<Lock, 'seq'> = {
      directory,
      holder,
      place: world.processes.here(),
      session: parent?.session ?? null,
      run: parent?.id ?? null,
      since: world.clock.now(),
      reason,
      shared: [],
      host: world.host,
      user: world.user(),
    }
    const seq = await store.locks.take({ ...lock, seenLock: newest, kin: around })
    if (seq === null) continue
    for (const former of before) await store.locks.free(former, null, world.clock.now())
    return { ...lock, seq }
  }
  throw new Problem('lock-contended', `${directory.path} could not be locked: others are at it`, { hint: 'try again' })
}

/** What the same process held of this very directory before: it is only told anew. */
const isSame = (lock: Lock, directory: Directory, holder: HandHolder): boolean =>
  lock.directory.key === directory.key && lock.holder.kind === 'process' && holder.kind === 'process' && sameProcess(lock.holder.by, holder.by)

/** Takes away what nobody holds any more. False: something changed meanwhile, look again. */
export async function cleared(world: Pick<World, 'clock' | 'evidence'>, store: Store, holdings: readonly Holding[]): Promise<boolean> {
  const now = world.clock.now()
  for (const { verdict, lock, run } of holdings) {
    if (verdict.kind !== 'free') return false
    const done =
      run === null || verdict.ending === null
        ? await store.locks.free(lock, null, now)
        : await store.claims.recordEnded(run, verdict.ending, world.evidence.harness(run.id), now)
    if (!done) return false
  }
  return true
}

/** Held by this very process, for as long as something is done there. Otherwise: who is in the way. */
export async function whileHeld<T>(
  world: World,
  store: Store,
  directory: Directory,
  reason: string,
  body: () => Promise<T>,
): Promise<{ readonly done: T } | { readonly inTheWay: Holding }> {
  const { pid, ticks }: ProcessId = world.processes.self()
  const holder: HandHolder = { kind: 'process', by: { pid, ticks }, name: 'holdfast', limit: null }
  const taken = await hold(world, store, { directory, holder, reason, parent: null, around: [], strict: true })
  if ('relation' in taken) return { inTheWay: taken }
  try {
    return { done: await body() }
  } finally {
    await store.locks.free(taken, null, world.clock.now())
  }
}
