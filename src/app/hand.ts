import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Holding, isOwner } from '../decide/index.ts'
import type { Directory, HandHolder, Limit, Lock, ProcessId, Store } from '../model/index.ts'
import { isPid, Problem } from '../model/index.ts'
import { findDirectory } from '../observe/index.ts'
import { lockFacts, lockHolderLine } from '../show/index.ts'
import { ancestorsOf, frontOf, parentRun } from './caller.ts'
import { holdingsOn, judgeLocks, originsFor, touching, whoseLocks } from './locks.ts'
import { directoryRefusal } from './refusal.ts'
import type { World } from './world.ts'

export type HandRequest = {
  readonly dir: string
  readonly reason?: string | undefined
  /** Held by this process, instead of by the caller. */
  readonly pid?: number | undefined
  /** At most so long; without a pid it is held by nobody but the time. */
  readonly ttlMs?: number | undefined
}

/** Takes a directory by hand, for `caller`: who called this command, or the program that uses the library. */
export async function lockByHand(world: World, request: HandRequest, caller: ProcessId): Promise<Lock> {
  const directory = findDirectory(request.dir, world.islands)
  const store = await world.store('writer')
  const parent = await parentRun(world, frontOf(world))
  const around = await ancestorsOf(world, parent)
  const holder = holderFor(world, request, caller)
  for (let steps = 0; steps < world.policy.claimSteps; steps++) {
    const { ours, theirs, newest } = await whoseLocks(world, store, { ancestors: around })
    const mine = [...ours, ...theirs].filter((lock) => isMine(world, lock, directory))
    const inTheWay = await holdingsOn(
      world,
      store,
      directory,
      theirs.filter((lock) => !mine.includes(lock)),
    )
    for (const holding of inTheWay) await clearOrRefuse(world, store, holding, directory)
    const lock: Omit<Lock, 'seq'> = {
      directory,
      holder,
      place: world.processes.here(),
      session: parent?.session ?? null,
      run: parent?.id ?? null,
      since: world.clock.now(),
      reason: request.reason ?? 'locked by hand',
      shared: [],
      host: world.host,
      user: world.user(),
    }
    const seq = await store.lock({ ...lock, seenLock: newest, kin: around })
    if (seq === null) continue
    // The new one takes the place of what the caller held here before.
    for (const before of mine) await store.unlock(before, null, world.clock.now())
    return { ...lock, seq }
  }
  throw new Problem('held', `${directory.path} could not be locked: others are at it`, { hint: 'try again' })
}

/** By hand, on this very directory, by whoever calls now. */
const isMine = (world: World, lock: Lock, directory: Directory): boolean =>
  lock.directory.key === directory.key && isOwner(lock, { origins: originsFor(world, lock), user: '', host: '' })

/** Who called: a shell that waits in between for a plan is none. */
export function callerOf(world: World): ProcessId {
  const front = frontOf(world)
  const row = front === null ? null : world.processes.sample(front.keeper.pid)
  const pid = row === null ? process.ppid : row.kind === 'seen' ? row.row.parent : 0
  const seen = pid > 1 ? world.processes.sample(pid) : null
  if (seen?.kind === 'seen') return { pid, ticks: seen.row.ticks }
  throw new Problem('usage', 'nobody is there who could hold the lock: the command has no parent', { hint: 'say --pid or --ttl' })
}

function holderFor(world: World, { pid, ttlMs }: HandRequest, caller: ProcessId): HandHolder {
  const { processes, clock } = world
  const limit: Limit | null = ttlMs === undefined ? null : { ms: ttlMs, ticks: processes.ticks(), at: clock.now() + ttlMs }
  if (pid === undefined && limit !== null) return { kind: 'time', taker: caller, limit }
  const wanted = pid ?? caller.pid
  const seen = isPid(wanted) ? processes.sample(wanted) : null
  if (seen?.kind !== 'seen' || seen.row.state === 'Z')
    throw new Problem('noSuchSession', `there is no process ${wanted} that could hold the lock`, { hint: 'name one that runs' })
  return { kind: 'process', by: { pid: wanted, ticks: seen.row.ticks }, name: seen.row.name, taker: caller, limit }
}

async function clearOrRefuse(world: World, store: Store, holding: Holding, wanted: Directory): Promise<void> {
  const { verdict, lock, run } = holding
  if (verdict.kind === 'free') {
    if (run === null || verdict.ending === null) await store.unlock(lock, null, world.clock.now())
    else await store.recordEnded(run, verdict.ending, world.files.harness(run.id), world.clock.now())
    return
  }
  const because = verdict.kind === 'unknown' ? 'unproven' : 'held'
  throw directoryRefusal({ for: { what: 'directory', holding }, because, why: verdict.why }, holding, world, wanted, 'lock')
}

/** `broken`: it was somebody else's, and was taken away with --force. */
export type Unlocked = { readonly lock: Lock; readonly broken: boolean }

/** Frees what was locked by hand. A run's lock is its tree's, and ends with that: only one that nobody can judge may be broken. */
export async function unlockByHand(world: World, dir: string, force: boolean): Promise<Unlocked[]> {
  const store = await world.store('writer')
  const here = await locksOn(world, store, dir)
  const judged = await judgeLocks(world, here)
  const caller = { user: world.user(), host: world.host }
  const broken = (lock: Lock): boolean => !isOwner(lock, { ...caller, origins: originsFor(world, lock) })
  for (const lock of here) {
    const state = judged.get(lock.seq)
    if (state === undefined || state.kind === 'free') continue
    const mayForce = force && (lock.holder.kind !== 'run' || state.kind === 'unknown')
    if (broken(lock) && !mayForce) throw notYours(world, lock, state.kind === 'held' ? state.pid : null, state.kind === 'unknown')
  }
  const by = `${caller.user}@${caller.host}`
  const freed: Unlocked[] = []
  for (const lock of here) {
    const isBroken = broken(lock) && judged.get(lock.seq)?.kind !== 'free'
    const how = isBroken ? { by, reason: `broken by ${by} (--force)` } : null
    if (await store.unlock(lock, how, world.clock.now())) freed.push({ lock, broken: isBroken })
  }
  return freed
}

/** By what it is; a directory that no longer exists is known by its former path. */
async function locksOn(world: World, store: Store, dir: string): Promise<Lock[]> {
  const { locks } = await store.locks([], null)
  const former = locks.filter((lock) => lock.directory.path === resolve(dir))
  if (former.length > 0 && !existsSync(dir)) return former
  return touching(world, findDirectory(dir, world.islands), locks).flatMap(({ lock, relation }) => (relation === 'same' ? [lock] : []))
}

function notYours({ clock }: World, lock: Lock, pid: number | null, unproven: boolean): Problem {
  const told = `${lock.directory.path} is held by ${lockHolderLine(lock, pid, clock.now())}`
  const detail = { holder: lockFacts(lock, pid) }
  if (lock.holder.kind === 'run' && !unproven)
    return new Problem('held', `${told}: the lock lasts as long as its tree, and cannot be taken away`, {
      hint: `holdfast stop ${lock.session}`,
      detail,
    })
  return new Problem(unproven ? 'unproven' : 'held', `${told}, and is not yours`, { hint: '--force takes it away all the same', detail })
}
