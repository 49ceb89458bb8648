import { dirname } from 'node:path'
import { isHere, type Looked, type LookPorts, lookAtAll } from '../../act/index.ts'
import { type Holding, isDelegated, judge, type LockVerdict, leftOf, lockVerdict, relationOf, type Standing, standing } from '../../decide/index.ts'
import type { Directory, HandHolder, LiveRun, Lock, Mount, ProcessId, Relation, RunHolder, RunRecord, SeenLocks, Store } from '../../model/index.ts'
import { isLive } from '../../model/index.ts'
import { asLive } from '../recover/recover.ts'
import type { World } from '../world/world.ts'
import { workingIn } from './where-agents-work.ts'

type LockPorts = LookPorts & Pick<World, 'clock' | 'directories' | 'ownHarnesses'>
/** Enough to tell where held directories are. */
type Whereabouts = Pick<World, 'directories' | 'processes' | 'evidence'>

/** Who of these locks is in the way of a directory, judged by what is true now. Nobody's processes are looked at for those that are not. */
export async function holdingsOn(world: LockPorts, store: Store, directory: Directory, locks: readonly Lock[]): Promise<Holding[]> {
  const mounts = world.directories.mounts()
  const held: readonly Near[] = touching(world, directory, locks, mounts)
  const others = locks.filter((lock) => !held.some((one) => one.lock === lock))
  const near = [...held, ...(await workingIn(world, directory, others, mounts, recordOfRun))]
  const runs = new Map<string, LiveRun>()
  for (const { lock } of near) {
    const run = lock.run === null || lock.holder.kind !== 'run' ? null : await store.runs.get(lock.run)
    if (run !== null && isLive(run)) runs.set(run.id, run)
  }
  const looked = await lookAtAll([...runs.values()], world)
  const judged = await judgeLocks(
    world,
    near.map(({ lock }) => lock).filter((lock) => !isOf(runs, lock)),
  )
  return near.map(({ lock, relation, worksIn = null }): Holding => {
    const run = isOf(runs, lock) ? runs.get(lock.run ?? '') : undefined
    if (run === undefined) return { lock, relation, worksIn, run: null, verdict: judged.get(lock.seq) as LockVerdict }
    const seen = looked.get(run.id) as Looked
    return { lock, relation, worksIn, run, verdict: lockVerdict(run, seen, seen.harnessId) }
  })
}

type Near = { readonly lock: Lock; readonly relation: Relation; readonly worksIn?: string }

/** Locks that are in the way wherever they are. */
export async function holdingsOf(world: LockPorts, locks: readonly Lock[]): Promise<Holding[]> {
  const judged = await judgeLocks(world, locks)
  return locks.map((lock) => ({ lock, relation: 'same', worksIn: null, run: null, verdict: judged.get(lock.seq) as LockVerdict }))
}

/** A lock by hand that was taken inside a run is not the run's. */
const isOf = (runs: ReadonlyMap<string, LiveRun>, { holder, run }: Lock): boolean => holder.kind === 'run' && run !== null && runs.has(run)

/** The path that a held directory has by now; null: it is gone, or nobody tells. */
export function pathNow(world: Whereabouts, lock: Lock, mounts: readonly Mount[]): string | null {
  const { path, key } = lock.directory
  if (world.directories.keyAt(path) === key) return path
  const now = whereItIsNow(world, lock, mounts)
  return now === null || now === 'deleted' ? null : now.path
}

/** Where a held directory is by now. */
function standingNow(world: Whereabouts, lock: Lock, mounts: readonly Mount[]): Standing | null {
  return standing(lock.directory, sameAsBefore(world, lock.directory, mounts), () => whereItIsNow(world, lock, mounts))
}

/** What the path of a directory leads to by now. Where that is still the same, what is known of it is, but for what was mounted since. */
function sameAsBefore({ directories }: Whereabouts, directory: Directory, mounts: readonly Mount[]): Directory | null {
  const { path, key, above } = directory
  if (above.length > 0 && directories.keyAt(path) === key) return { ...directory, below: directories.mountedBelow(path, mounts) }
  return directories.look(path, mounts)
}

/** After a rename, those who work in it still know where it is; the kernel tells of them. */
function whereItIsNow(world: Whereabouts, lock: Lock, mounts: readonly Mount[]): Directory | 'deleted' | null {
  for (const id of isHere(lock, world) ? witnesses(world, lock) : []) {
    const at = judge(world.processes, lock.place, id).kind === 'alive' ? world.directories.workplace(id.pid) : null
    if (at?.deleted === true && at.key === lock.directory.key) return 'deleted'
    for (let path = at?.path ?? '/'; path !== '/'; path = dirname(path)) {
      const found = world.directories.look(path, mounts)
      if (found?.key === lock.directory.key) return found
    }
  }
  return null
}

function witnesses({ evidence }: Whereabouts, { holder, run }: Lock): ProcessId[] {
  if (holder.kind === 'time') return []
  if (holder.kind === 'process') return [holder.by]
  const known = [run === null ? null : evidence.harness(run), holder.adopted ? holder.launcher : holder.keeper]
  return [...known, ...(run === null ? [] : evidence.journal(run))].flatMap((id) => id ?? [])
}

/** What is true of locks by themselves, whatever the runs on record say. */
export async function judgeLocks(world: LockPorts, locks: readonly Lock[]): Promise<Map<number, LockVerdict>> {
  const records = locks.flatMap((lock) => (lock.holder.kind === 'run' ? [recordOfLock(lock, lock.holder)] : []))
  const looked = await lookAtAll(records, world)
  return new Map(
    locks.map((lock): [number, LockVerdict] => {
      const { holder } = lock
      if (holder.kind !== 'run') return [lock.seq, judgeByHand(world, lock, holder)]
      const seen = looked.get(lock.run ?? '') as Looked
      return [lock.seq, lockVerdict(asLive(recordOfLock(lock, holder)), seen, seen.harnessId)]
    }),
  )
}

function judgeByHand({ processes, clock }: LockPorts, { place }: Lock, holder: HandHolder): LockVerdict {
  const { limit } = holder
  if (limit !== null && leftOf(limit, place, { here: processes.here(), ticks: processes.ticks(), at: clock.now() }) === 0)
    return { kind: 'free', why: 'its time is over', ending: null }
  if (holder.kind === 'time') return { kind: 'held', why: 'its time is not over', pid: null, passing: false }
  const fact = judge(processes, place, holder.by)
  if (fact.kind === 'unknown') return fact
  if (fact.kind === 'gone') return { kind: 'free', why: `its holder is gone: ${fact.why}`, ending: null }
  return { kind: 'held', why: `pid ${holder.by.pid} is alive (born at tick ${holder.by.ticks})`, pid: holder.by.pid, passing: false }
}

/** A run as far as its lock tells: enough to look at its tree, and to end it. */
export const recordOfLock = (lock: Lock, holder: RunHolder): RunRecord => ({
  launcher: holder.launcher,
  keeper: holder.keeper,
  marker: holder.marker,
  cookie: holder.cookie,
  containment: holder.containment,
  adopted: holder.adopted,
  budget: null,
  budgetCost: null,
  tmux: null,
  id: lock.run ?? '',
  session: lock.session ?? '',
  epoch: 0,
  place: lock.place,
  argv: [],
  dir: lock.directory.path,
  detached: true,
  until: 'tree',
  deadlineAt: null,
  parent: null,
  independent: false,
  task: null,
  host: lock.host,
  user: lock.user,
  tty: null,
  startedAt: lock.since,
})

const recordOfRun = (lock: Lock): RunRecord | null => (lock.holder.kind === 'run' && lock.run !== null ? recordOfLock(lock, lock.holder) : null)

/** Locks of those the caller belongs to, and of strangers. `kin`: the runs that it is no stranger to. */
export type Whose = Omit<SeenLocks, 'locks'> & { readonly ours: readonly Lock[]; readonly theirs: readonly Lock[] }

/** `ancestors`: the runs around the caller; `session`: the one that it starts a run of; `own`: that session's present run. */
export async function whoseLocks(
  world: LockPorts,
  store: Store,
  { ancestors, session = null, own = null }: { ancestors: readonly string[]; session?: string | null; own?: string | null },
): Promise<Whose> {
  const { locks, newest, kin } = await store.locks.all(ancestors, session)
  const known = own === null ? kin : new Set([...kin, own])
  const isOurs = (lock: Lock): boolean => isDelegated(lock, known, originsFor(world, lock))
  return { ours: locks.filter(isOurs), theirs: locks.filter((lock) => !isOurs(lock)), newest, kin }
}

/** Ourselves and those we were started from, where their pids mean something to the lock. */
export const originsFor = (world: LockPorts, lock: Lock): readonly ProcessId[] => (isHere(lock, world) ? world.processes.origins() : [])

/** Which of these locks touch a directory. */
export function touching(
  world: Whereabouts,
  directory: Directory,
  locks: readonly Lock[],
  mounts = world.directories.mounts(),
): { lock: Lock; relation: Relation }[] {
  return locks.flatMap((lock) => {
    const held = standingNow(world, lock, mounts)
    const relation = held === null ? null : relationOf(directory, held)
    return relation === null ? [] : [{ lock, relation }]
  })
}

/** The process to name, where there is one. */
export const pidOf = ({ verdict }: Holding): number | null => (verdict.kind === 'held' ? verdict.pid : null)
