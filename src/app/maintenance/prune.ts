import { join } from 'node:path'
import { type LookPorts, lookAt } from '../../act/index.ts'
import { verdict } from '../../decide/index.ts'
import type { Store } from '../../model/index.ts'
import { liveRunsOf } from '../../model/index.ts'
import { daemonPlace } from '../daemon/place.ts'
import { asLive } from '../recover/recover.ts'
import { unreadableRuns } from '../recover/unreadable-runs.ts'
import type { World } from '../world/world.ts'
import { breather } from '../world/yield-turn.ts'
import { idleWorktrees } from './idle-worktrees.ts'
import {
  cgroupsAt,
  clearAway,
  deadCgroups,
  filesOfKeepers,
  type Litter,
  locksOfProcesses,
  type Removable,
  runOfCgroup,
  tried,
  unheld,
} from './removable.ts'
import { forgetBatch } from './retention.ts'

/**
 * Removes what the dead left: directories of runs that nobody asks about any more, pipes and plans of ended keepers, empty cgroups, locks by
 * hand of processes that are gone, worktrees of ours that are clean and unused, records beyond retention, what daemons left half written, the place of a tmux server that is gone. What is on disk is listed before the
 * store is asked, and a start is on record before it makes anything: so nothing of a run that is just being started is ever taken for litter.
 */
export async function prune(world: World, dryRun: boolean, { worktrees = true } = {}): Promise<Litter[]> {
  const store = await world.store('writer')
  const found = [
    ...(await deadDirectories(world, store)),
    ...(await cgroupsOfTheDead(world, store)),
    ...locksOfProcesses(world, store, unheld(world, (await store.retention.remains(world.policy.sessionsShown)).locks)),
    // One whose place is unknown may work in any of them.
    ...(worktrees && unreadableRuns(world).length === 0 ? await idleWorktrees(world, store) : []),
    ...(await oldRecords(world, store)),
    ...litterOfDaemons(world),
    ...(await litterOfTmux(world, store)),
  ]
  return dryRun ? found.map(({ kind, what, why, keep }) => ({ kind, what, why, keep })) : clearAway(found)
}

async function deadDirectories(world: World, store: Store): Promise<Removable[]> {
  const { runRecords } = world
  const listed = runRecords.list()
  const ended = new Map((await store.runs.endedAmong(listed)).map(({ id, newest }) => [id, newest]))
  const found: Removable[] = []
  const wanted = (id: string, why: string): void => {
    const holder = secretHolder(world, id)
    if (holder !== null)
      found.push({ kind: 'directory', what: runRecords.path(id), why: `pid ${holder} still has the secret of this run`, keep: true })
    else found.push({ kind: 'directory', what: runRecords.path(id), why, keep: false, remove: () => runRecords.remove(id) })
  }
  const breathe = breather()
  for (const id of listed) {
    await breathe()
    const newest = ended.get(id)
    if (newest === false) wanted(id, 'its run is over, and its session has had a newer one')
    else if (newest === true) found.push(...(await filesOfKeepers(world, store, [id])))
    else if ((await store.runs.get(id)) === null) {
      const trouble = await unrecordedTrouble(world, id)
      if (trouble === null) wanted(id, 'no run on record has it, and nothing of it is alive')
      else found.push({ kind: 'directory', what: runRecords.path(id), why: `no run on record has it, but ${trouble}`, keep: true })
    }
  }
  return found
}

/** Why a directory without a record may still be somebody's. */
async function unrecordedTrouble(world: LookPorts, id: string): Promise<string | null> {
  const record = world.runRecords.read(id)
  if (record === null) {
    const [unread] = unreadableRuns({ ...world, unreadable: () => [id] })
    return unread === undefined ? null : `its record cannot be read: ${unread.why}`
  }
  const judged = verdict(asLive(record), await lookAt(asLive(record), world))
  if (judged.kind === 'over') return null
  return judged.kind === 'unknown' ? judged.why : `it is ${judged.kind}`
}

/** Its fence must stand as long as anybody who carries its name may ask for it. */
export function secretHolder(world: World, id: string): number | null {
  const cookie = world.runRecords.read(id)?.cookie
  if (cookie === undefined) return null
  return secretsAlive(world).get(cookie) ?? null
}

const seenSecrets = new WeakMap<World, Map<string, number>>()
/** One pass is enough for all: a secret of the dead is never given to anybody new. */
function secretsAlive(world: World): Map<string, number> {
  const known =
    seenSecrets.get(world) ??
    new Map(world.processes.table({ since: 0, cookies: true }).rows.flatMap(({ cookie, pid }) => (cookie ? [[cookie, pid]] : [])))
  seenSecrets.set(world, known)
  return known
}

/** Removes the empty cgroups of the dead; for those who have just looked at all runs. */
export async function sweepCgroups(
  world: Pick<World, 'cgroups' | 'containers' | 'evidence' | 'processes' | 'runRecords'>,
  store: Store,
): Promise<void> {
  await clearAway(await cgroupsOfTheDead(world, store))
}

/** Wherever they may lie: where cgroups are made now, and where those of all runs on disk were. */
async function cgroupsOfTheDead(
  world: Pick<World, 'cgroups' | 'containers' | 'evidence' | 'processes' | 'runRecords'>,
  store: Store,
): Promise<Removable[]> {
  const { cgroups, runRecords, evidence } = world
  const base = cgroups.base()
  const recorded = runRecords.list().flatMap((id) => evidence.cgroup(id) ?? [])
  const places = new Set([...(base.kind === 'base' ? [base.path] : []), ...recorded.map((path) => path.slice(0, path.lastIndexOf('/')))])
  const there = cgroupsAt(world, places)
  return deadCgroups(world, there, await store.runs.liveAmong(there.map((path) => runOfCgroup(world, path))))
}

/** What daemons left half written in their own folder, or had to move out of their way. */
function litterOfDaemons(world: Pick<World, 'connections' | 'home' | 'processes'>): Removable[] {
  const { files } = daemonPlace(world)
  const dead = files.litter().filter(({ writer }) => writer === null || world.processes.sample(writer).kind === 'absent')
  return dead.map(({ name }) => ({
    kind: 'files',
    what: join(files.folder, name),
    why: 'a daemon left it, and nobody needs it',
    keep: false,
    remove: tried(() => files.removeLitter(name)),
  }))
}

/** What a tmux server left of its place. A live run in a pane may be about to start one there, or have one whose socket was swept away. */
async function litterOfTmux({ clock, panes, policy }: Pick<World, 'clock' | 'panes' | 'policy'>, store: Store): Promise<Removable[]> {
  const left = await panes.leftover(clock.now())
  if (left === null) return []
  const { views } = await store.sessions.snapshot('live', policy.sessionsShown)
  if (liveRunsOf(views).some(({ tmux }) => tmux !== null)) return []
  return [{ kind: 'files', what: left, why: 'its tmux server is gone', keep: false, remove: () => panes.removeLeftover(clock.now()) }]
}

async function oldRecords(world: Pick<World, 'clock' | 'policy' | 'runRecords'>, store: Store): Promise<Removable[]> {
  const which = { endedBefore: world.clock.now() - world.policy.retentionMs, keep: world.policy.retentionRuns, limit: world.policy.sessionsShown }
  const old = await store.retention.forgettable(which)
  if (old.length === 0) return []
  // In batches: nobody waits long for the store meanwhile.
  const remove = async (): Promise<null> => {
    const breathe = breather()
    for (let left = old.length; left > 0; left -= world.policy.pruneBatch)
      await forgetBatch(world, store, { ...which, limit: world.policy.pruneBatch }, breathe)
    return null
  }
  return [{ kind: 'record', what: `${old.length} ended ${old.length === 1 ? 'run' : 'runs'}`, why: 'beyond retention', keep: false, remove }]
}
