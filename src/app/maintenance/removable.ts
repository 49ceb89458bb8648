import { judge } from '../../decide/index.ts'
import type { Lock, Run, Store } from '../../model/index.ts'
import { cgroupStem } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { breather } from '../world/yield-turn.ts'

/** Something the dead left. `keep`: it stays, and why. */
export type Litter = {
  readonly kind: 'directory' | 'files' | 'cgroup' | 'record' | 'worktree' | 'lock' | 'anchor'
  readonly what: string
  readonly why: string
  readonly keep: boolean
}
/** `remove` answers why it stays after all, if it does. */
export type Removable = Litter & { readonly remove?: () => string | null | Promise<string | null> }

/** Removes what may go, one by one, and says what came of each. */
export async function clearAway(found: readonly Removable[]): Promise<Litter[]> {
  const told: Litter[] = []
  const breathe = breather()
  for (const { kind, what, why, keep, remove } of found) {
    await breathe()
    const stays = (await remove?.()) ?? null
    told.push(stays === null ? { kind, what, why, keep } : { kind, what, why: stays, keep: true })
  }
  return told
}

/** For what leaves nothing to say when it was tried. */
export const tried = (remove: () => unknown) => (): null => {
  remove()
  return null
}

/** Locks by hand, by the one process that holds each. One that was told anew is another lock, and does not go with the old. */
export const locksOfProcesses = (world: Pick<World, 'clock' | 'processes'>, store: Store, locks: readonly Lock[]): Removable[] =>
  locks.flatMap((lock): Removable[] => {
    if (lock.holder.kind !== 'process') return []
    const { by } = lock.holder
    const about = { kind: 'lock', what: `the lock of pid ${by.pid} on ${lock.directory.path}` } as const
    const fact = judge(world.processes, lock.place, by)
    if (fact.kind !== 'gone') return [{ ...about, why: fact.kind === 'alive' ? 'its holder is alive' : fact.why, keep: true }]
    const remove = async (): Promise<string | null> => ((await store.locks.free(lock, null, world.clock.now())) ? null : 'somebody else took it away')
    return [{ ...about, why: `its holder is gone: ${fact.why}`, keep: false, remove }]
  })

/** Those of them whose holder is not seen alive. */
export const unheld = ({ processes }: Pick<World, 'processes'>, locks: readonly Lock[]): Lock[] =>
  locks.filter(({ holder, place }) => holder.kind === 'process' && judge(processes, place, holder.by).kind !== 'alive')

/** What lies in the directories of ended runs that only their keepers and timers needed; as long as one of these may live, it is theirs. */
export async function filesOfKeepers(
  world: Pick<World, 'evidence' | 'processes' | 'runRecords'>,
  store: Store,
  ended: readonly string[],
): Promise<Removable[]> {
  const { runRecords } = world
  const found: Removable[] = []
  for (const id of ended) {
    const names = runRecords.litter(id)
    if (names.length === 0) continue
    const about = { kind: 'files', what: `${runRecords.path(id)}: ${names.join(', ')}` } as const
    const user = stillUsed(world, await store.runs.get(id)) ?? writerOf(world, names)
    if (user !== null) found.push({ ...about, why: user, keep: true })
    else found.push({ ...about, why: 'only its keeper needed them', keep: false, remove: () => tidied(runRecords, id) })
  }
  return found
}

function tidied(runRecords: World['runRecords'], id: string): string | null {
  runRecords.tidy(id)
  const left = runRecords.litter(id)
  return left.length === 0 ? null : `not all of it can be removed: ${left.join(', ')}`
}

function stillUsed({ processes, evidence }: Pick<World, 'evidence' | 'processes'>, run: Run | null): string | null {
  if (run === null) return null
  for (const [who, id] of [['keeper', run.keeper] as const, ['timer', evidence.timer(run.id)] as const, ['guard', evidence.guard(run.id)] as const]) {
    const fact = id === null ? null : judge(processes, run.place, id)
    if (fact?.kind === 'alive') return `its ${who} (pid ${id?.pid}) has not left yet`
    if (fact?.kind === 'unknown') return `its ${who} may live: ${fact.why}`
  }
  return null
}

/** What is written is called by the pid of its writer until it is whole; `aware.N` is whole, and called by how often something was told. */
function writerOf({ processes }: Pick<World, 'processes'>, names: readonly string[]): string | null {
  const pids = names.flatMap((name) => /^(?!aware\.\d).*\.(\d+)$/.exec(name)?.[1] ?? []).map(Number)
  const pid = pids.find((one) => processes.sample(one).kind !== 'absent')
  return pid === undefined ? null : `pid ${pid} may be writing there`
}

/** Those of the cgroups that no live run has. They are listed before it is asked who lives, and a start is on record before it makes one. */
export function deadCgroups(
  world: Pick<World, 'cgroups' | 'containers' | 'processes'>,
  there: readonly string[],
  live: ReadonlySet<string>,
  most = Number.POSITIVE_INFINITY,
): Removable[] {
  const { cgroups, containers } = world
  const dead = there.filter((path) => !live.has(runOfCgroup(world, path))).slice(0, most)
  return dead.flatMap((path): Removable[] => {
    const inside = cgroups.view(path)
    if (inside.kind === 'absent') return []
    if (inside.kind === 'unreadable') return [{ kind: 'cgroup', what: path, why: inside.why, keep: true }]
    const pids = [...inside.pids].join(', ')
    if (pids !== '' || inside.hidden) return [{ kind: 'cgroup', what: path, why: `somebody is in it (pid ${pids || 'unseen'})`, keep: true }]
    const remove = (): string | null => (containers.remove(path) ? null : 'it could not be removed: somebody may have just come into it')
    return [{ kind: 'cgroup', what: path, why: 'it is empty, and its run is over', keep: false, remove }]
  })
}

/** The cgroups of this install at these places. */
export const cgroupsAt = (world: Pick<World, 'cgroups' | 'processes'>, places: Iterable<string>): string[] =>
  [...places].flatMap((place) => world.cgroups.list(place, cgroupStem(world.processes.here().install)))

export const runOfCgroup = ({ processes }: Pick<World, 'processes'>, path: string): string =>
  path.slice(path.lastIndexOf('/') + 1 + cgroupStem(processes.here().install).length).replace(/\.scope$/, '')
