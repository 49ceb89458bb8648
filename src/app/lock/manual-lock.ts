import { resolve } from 'node:path'
import { isHere } from '../../act/index.ts'
import { isOwner } from '../../decide/index.ts'
import type { HandHolder, Limit, Lock, ProcessId, Store } from '../../model/index.ts'
import { isDead, isSignallable, Problem, sameProcess } from '../../model/index.ts'
import { lockFacts, lockHolderLine } from '../../show/index.ts'
import { ancestorsOf, frontOf } from '../caller/caller.ts'
import { PASSES_ON } from '../caller/client.ts'
import { runAround } from '../caller/who-am-i.ts'
import { unreadableRefusal } from '../recover/unreadable-runs.ts'
import type { World } from '../world/world.ts'
import { judgeLocks, originsFor, touching } from './judge-locks.ts'
import { directoryRefusal } from './refusal-message.ts'
import { hold } from './take-lock.ts'

export type HandRequest = {
  readonly dir: string
  readonly reason?: string | undefined
  /** Held by this process, instead of by the caller. */
  readonly pid?: number | undefined
  /** At most so long; without a pid it is held by nobody but the time. */
  readonly ttlMs?: number | undefined
}

/** Takes a directory by hand, for `caller`: who called this command, or the program that uses the library. */
export async function lockByHand(world: World, request: HandRequest, caller: () => ProcessId): Promise<Lock> {
  const directory = world.directories.find(request.dir)
  const store = await world.store('writer')
  const unreadable = unreadableRefusal(world, false)
  if (unreadable !== null) throw unreadable
  const parent = await runAround(world, 'writer')
  const holder = holderFor(world, request, caller)
  const reason = request.reason ?? 'locked by hand'
  const taken = await hold(world, store, { directory, holder, reason, parent, around: await ancestorsOf(world, parent) })
  if (!('relation' in taken)) return taken
  const because = taken.verdict.kind === 'unknown' ? 'unproven' : 'held'
  throw directoryRefusal({ for: { what: 'directory', holding: taken }, because, why: taken.verdict.why }, taken, world, directory, 'lock')
}

/** Who called: the nearest that does not only pass on what it was called with, nor waits in between for a plan. */
export function callerOf(world: Pick<World, 'env' | 'own' | 'processes'>): ProcessId {
  const front = frontOf(world)
  for (const origin of world.processes.origins().slice(1)) {
    const seen = world.processes.sample(origin.pid)
    if (origin.pid > 1 && seen.kind === 'seen' && origin.pid !== front?.keeper.pid && !PASSES_ON.test(seen.row.name)) return origin
  }
  throw new Problem('lock-holder-missing', 'there is no shell that could hold the lock: the command was started by pid 1, which is everybody’s', {
    hint: 'say --pid or --ttl',
  })
}

function holderFor(world: Pick<World, 'clock' | 'processes'>, { pid, ttlMs }: HandRequest, caller: () => ProcessId): HandHolder {
  const { processes, clock } = world
  const limit: Limit | null = ttlMs === undefined ? null : { ms: ttlMs, ticks: processes.ticks(), at: clock.now() + ttlMs }
  if (pid === undefined && limit !== null) return { kind: 'time', limit }
  const by = pid === undefined ? caller() : null
  const wanted = pid ?? by?.pid ?? 0
  if (wanted === 1)
    throw new Problem('lock-holder-init', 'pid 1 cannot hold a lock', {
      hint: 'name another process, or --ttl',
    })
  const seen = isSignallable(wanted) ? processes.sample(wanted) : null
  if (seen?.kind !== 'seen' || isDead(seen.row.state) || (by !== null && !sameProcess(seen.row, by)))
    throw new Problem('process-missing', `there is no process ${wanted} that could hold the lock`, { hint: 'name one that runs' })
  return { kind: 'process', by: { pid: wanted, ticks: seen.row.ticks }, name: seen.row.name, limit }
}

/** `broken`: it was somebody else's, and was taken away with --force. */
export type Unlocked = { readonly lock: Lock; readonly broken: boolean }

/**
 * Frees what was locked by hand. A run's lock is its tree's, and ends with that: only one that nobody can judge may be broken.
 * `agent`: for whom it is done, where that is not who started this command.
 */
export async function unlockByHand(world: World, dir: string, force: boolean, agent?: ProcessId): Promise<Unlocked[]> {
  const store = await world.store('writer')
  const here = await locksOn(world, store, dir)
  const judged = await judgeLocks(world, here)
  const held = here.flatMap((lock) => {
    const state = judged.get(lock.seq)
    return state === undefined || state.kind === 'free' ? [] : [{ lock, state }]
  })
  const caller = { user: world.user(), host: world.host }
  const originsOf = (lock: Lock): readonly ProcessId[] =>
    agent === undefined || !isHere(lock, world) ? originsFor(world, lock) : [...originsFor(world, lock), agent]
  const own = held.filter(({ lock }) => isOwner(lock, { ...caller, origins: originsOf(lock) }))
  const forced = force
    ? held.filter(({ lock, state }) => !own.some((one) => one.lock === lock) && (lock.holder.kind !== 'run' || state.kind === 'unknown'))
    : []
  const [first] = held
  if (first !== undefined && own.length + forced.length === 0)
    throw notYours(world, first.lock, first.state.kind === 'held' ? first.state.pid : null, first.state.kind === 'unknown')
  const by = `${caller.user}@${caller.host}`
  const freed: Unlocked[] = []
  for (const { lock } of [...own, ...forced]) {
    const broken = !own.some((one) => one.lock === lock)
    if (!(await store.locks.free(lock, broken ? { by, reason: `broken by ${by} (--force)` } : null, world.clock.now()))) continue
    freed.push({ lock, broken })
    // An agent that has lost its directory may not go on in it: should it live after all, its next tool call is denied.
    if (lock.holder.kind === 'run' && lock.run !== null)
      world.fences.retire(lock.run, { end: 'stopped', by, reason: `its directory was unlocked by ${by} (--force)` })
  }
  return freed
}

/** By what it is; one that was deleted, or moved away, is also known by its former path. */
async function locksOn(world: World, store: Store, dir: string): Promise<Lock[]> {
  const { locks } = await store.locks.all([], null)
  const former = locks.filter((lock) => lock.directory.path === resolve(dir) && lock.holder.kind !== 'run')
  if (former.length > 0 && !world.directories.exists(dir)) return former
  const here = touching(world, world.directories.find(dir), locks).flatMap(({ lock, relation }) => (relation === 'same' ? [lock] : []))
  return [...here, ...former.filter((lock) => !here.includes(lock))]
}

function notYours({ clock }: Pick<World, 'clock'>, lock: Lock, pid: number | null, unproven: boolean): Problem {
  const told = `${lock.directory.path} is held by ${lockHolderLine(lock, pid, clock.now())}`
  const detail = { holder: lockFacts(lock, pid) }
  if (lock.holder.kind === 'run' && !unproven)
    return new Problem('lock-of-run', `${told}: the lock lasts as long as its tree, and cannot be taken away`, {
      hint: `holdfast stop ${lock.session}`,
      detail,
    })
  return new Problem(unproven ? 'lock-unproven' : 'lock-not-yours', `${told}, and is not yours`, {
    hint: '--force takes it away all the same',
    detail,
  })
}
