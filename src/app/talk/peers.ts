import { harnessOf } from '../../act/index.ts'
import { chooseSiblings, judge } from '../../decide/index.ts'
import type { LiveRun, Lock, Run, SessionRecord, Store } from '../../model/index.ts'
import { isLive } from '../../model/index.ts'
import { type Forgotten, forgottenLocks } from '../lock/trees-without-record.ts'
import type { CloseLook, Presence } from '../see/close-look.ts'
import type { World } from '../world/world.ts'
import { mayBeNear, nearTo } from './same-place.ts'

export type PeerWorld = Pick<World, 'directories' | 'own' | 'processes' | 'evidence' | 'policy'> & { readonly closeLook: () => CloseLook }

type Beside = { readonly session: SessionRecord['session']; readonly run: Run }
type Seen = Beside & { readonly presence: Presence }

/**
 * The other sessions in a run's directory tree or repository that live or may live (`peers`), and its runs that are proven over. They are
 * chosen by rows and locks first: processes of sessions elsewhere are not looked at, and nothing is recorded about any of them.
 */
export async function peersNear(world: PeerWorld, store: Store, self: Run): Promise<{ readonly peers: Beside[]; readonly over: Run[] }> {
  const candidates = mayBeNear(world, self, await store.locks.workplaces())
  if (candidates.length === 0) return { peers: [], over: [] }
  const { views, locks } = await store.sessions.snapshot('live', world.policy.sessionsShown, [self.id, ...candidates])
  const others = views.flatMap(({ session, run }): (Beside & { run: LiveRun })[] => (run !== null && isLive(run) ? [{ session, run }] : []))
  const unlisted = unlistedLocks(locks, others)
  const isNear = nearTo(world, { run: self, dir: self.dir }, locks)
  const near = others.filter((other) => !isSelf(other, self) && other.run.task === null && isNear(other))
  const seen = [
    ...(await lookAtRuns(world, near)),
    ...(await lookAtForgotten(world, store, unlisted, (other) => !isSelf(other, self) && isNear(other))),
  ]
  const here = seen.map((one) => ({ ...one, near: true, liveness: LIVENESS[one.presence] }))
  const choices = chooseSiblings(here, { ids: [self.session], run: self }, new Map())
  return {
    peers: choices.flatMap(({ peer, choice }) => (choice.kind === 'sibling' ? [{ session: peer.session, run: peer.run }] : [])),
    over: seen.filter(({ presence }) => presence === 'over').map(({ run }) => run),
  }
}

const LIVENESS = { alive: 'alive', unknown: 'unknown', ending: 'dead', over: 'dead' } as const

const isSelf = ({ session, run }: Beside, self: Run): boolean => session.id === self.session || run.id === self.id

/** The agent's own process is enough to tell that a run lives. */
async function lookAtRuns(world: PeerWorld, near: readonly (Beside & { run: LiveRun })[]): Promise<Seen[]> {
  const quick = near.map((one) => ({ ...one, presence: presenceOf(world, one.run) }))
  const doubtful = quick.flatMap(({ run, presence }) => (presence === null ? [run] : []))
  const looked = doubtful.length === 0 ? null : await world.closeLook().lookAtRuns(doubtful)
  return quick.map((one) => ({ ...one, presence: one.presence ?? looked?.get(one.run.id) ?? 'unknown' }))
}

/** Null: its agent is gone, or not known, so its tree has to tell. */
function presenceOf({ processes, evidence }: PeerWorld, run: LiveRun): 'alive' | 'unknown' | null {
  const agent = harnessOf(run, evidence)
  const fact = agent === null ? null : judge(processes, run.place, agent)
  return fact === null || fact.kind === 'gone' ? null : fact.kind
}

/** Locks of runs that are not listed as live. Nearly always there are none. */
function unlistedLocks(locks: readonly Lock[], listed: readonly Beside[]): Lock[] {
  const live = new Set(listed.map(({ run }) => run.id))
  return locks.filter(({ holder, run }) => holder.kind === 'run' && run !== null && !live.has(run))
}

/** Trees that may live although their runs are over on record. */
async function lookAtForgotten(world: PeerWorld, store: Store, locks: readonly Lock[], isMeant: (other: Beside) => boolean): Promise<Seen[]> {
  if (locks.length === 0) return []
  const meant: (Beside & { lock: Forgotten })[] = []
  for (const lock of await forgottenLocks(store, null, locks)) {
    const [found, run] = [await store.sessions.find(lock.session, 'exact'), await store.runs.get(lock.run)]
    if (found.kind !== 'found' || run === null) continue
    const other = { session: found.view.session, run }
    if (isMeant(other)) meant.push({ ...other, lock })
  }
  const looked = meant.length === 0 ? null : await world.closeLook().lookAtLocks(meant.map(({ lock }) => lock))
  return meant.map(({ lock, ...other }) => ({ ...other, presence: looked?.get(lock.run) ?? 'unknown' }))
}
