import { isThere } from '../../act/index.ts'
import { askDaemon } from '../../keep/index.ts'
import type { DaemonPresence, DaemonStatus, ProcessId } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { type DaemonPlace, daemonPlace, folderProblem, repair } from './place.ts'

/** What is true of this home's daemon, from the kernel; and how it does, from itself. Says what it repaired of a dead one. */
export async function daemonStatus(world: Pick<World, 'clock' | 'connections' | 'home' | 'policy' | 'processes'>): Promise<DaemonStatus> {
  const place = daemonPlace(world)
  const { presence, repaired } = await settle(world, place)
  if (presence.kind === 'none' || presence.kind === 'dead') return { presence, answer: null, health: null, repaired }
  const answer = await askDaemon(place.files, world.policy.daemonAnswerMs)
  const health = answer.kind === 'health' ? answer.health : place.files.health()
  return { presence, answer, health, repaired }
}

/** One that just comes up, or somebody who repairs, gets a moment. */
async function settle(
  world: Pick<World, 'clock' | 'policy'>,
  place: DaemonPlace,
): Promise<{ presence: DaemonPresence; repaired: readonly string[] }> {
  const { clock, policy } = world
  const repaired: string[] = []
  const until = clock.elapsed() + policy.daemonAnswerMs
  try {
    for (;;) {
      const presence = place.presence()
      if (presence.kind === 'dead') repaired.push(...repair(place, clock.now()))
      else if (!isComing(presence)) return { presence, repaired }
      if (clock.elapsed() >= until) return { presence, repaired }
      await clock.sleep(policy.pollMaxMs)
    }
  } catch (error) {
    throw folderProblem(place, error)
  }
}

export const isComing = (presence: DaemonPresence): boolean => presence.kind === 'alive' && presence.record === null

export type DaemonStopped =
  | { readonly kind: 'none'; readonly repaired: readonly string[] }
  | { readonly kind: 'stopped'; readonly pid: number; readonly killed: boolean; readonly repaired: readonly string[] }

/** Ends it, by identity, and sees it gone. One that does not end in time is killed: it has nothing to lose. */
export async function stopDaemon(world: Pick<World, 'clock' | 'connections' | 'home' | 'policy' | 'processes' | 'user'>): Promise<DaemonStopped> {
  const { clock, policy, processes } = world
  const place = daemonPlace(world)
  const { presence, repaired } = await settle(world, place)
  if (presence.kind === 'none' || presence.kind === 'dead') return { kind: 'none', repaired }
  if (presence.kind === 'unseen') throw unseen(presence)
  if (!isDaemon(world, presence)) throw noDaemon(presence.process)
  const { process: target } = presence
  place.files.tell(`pid ${target.pid} is asked to stop by ${world.user()} (holdfast daemon stop)`, clock.now())
  const killed = !(await end(world, target, ['SIGTERM', 'SIGCONT'], policy.daemonStopMs))
  if (killed && !(await end(world, target, ['SIGKILL'], policy.killMs)))
    throw new Problem('daemon-survived', `the daemon (pid ${target.pid}) was killed, and is still there`, {
      hint: 'look with: holdfast daemon status',
    })
  if (killed) place.files.tell(`pid ${target.pid} did not end within ${policy.daemonStopMs / 1000} s and was killed`, clock.now())
  clean(place)
  if (isThere(target, processes)) throw new Problem('daemon-survived', `the daemon (pid ${target.pid}) is still there`)
  return { kind: 'stopped', pid: target.pid, killed, repaired }
}

/** Who repairs the home, or looks, holds its lock too: only what is on record, or was started as a daemon, is one. Its identity is checked later. */
const isDaemon = ({ processes }: Pick<World, 'processes'>, { process: { pid }, record }: DaemonPresence & { kind: 'alive' }): boolean =>
  record !== null || processes.arguments(pid).some((word, at, words) => word === 'daemon' && words[at + 1] === 'run')

const noDaemon = ({ pid }: ProcessId): Problem =>
  new Problem('daemon-unproven', `pid ${pid} holds this home, and nothing shows that it is a daemon; it was not signalled`, {
    hint: `a command that looks or repairs holds it for a moment; kill -CONT ${pid} wakes one that was stopped meanwhile`,
  })

/** Signals it, and waits; true: it was seen gone. */
async function end(
  world: Pick<World, 'clock' | 'policy' | 'processes'>,
  target: ProcessId,
  signals: readonly ('SIGTERM' | 'SIGCONT' | 'SIGKILL')[],
  ms: number,
): Promise<boolean> {
  const { clock, policy, processes } = world
  for (const signal of signals) {
    const answer = processes.send(target, signal)
    if (answer === 'denied' || answer === 'forbidden')
      throw new Problem('daemon-not-signallable', `the daemon (pid ${target.pid}) may not be signalled from here (${answer})`, {
        hint: 'stop it as the user, and where, it was started',
      })
  }
  const until = clock.elapsed() + ms
  for (let delay = policy.pollMinMs; isThere(target, processes); delay = Math.min(delay * 2, policy.pollMaxMs)) {
    if (clock.elapsed() >= until) return false
    await clock.sleep(delay)
  }
  return true
}

/** What it left, if it could not see to that itself; its end is told already. */
function clean(place: DaemonPlace): void {
  const alone = place.take()
  // Another one holds the home by now: all that lies there is its own.
  if (alone === null) return
  place.files.clear()
  alone.release()
}

const unseen = ({ record, why }: DaemonPresence & { kind: 'unseen' }): Problem =>
  new Problem(
    'daemon-unproven',
    `a daemon holds this home${record === null ? '' : ` (on record: pid ${record.process.pid})`}, and cannot be judged from here: ${why}`,
    {
      hint: 'stop it where it runs; nothing was signalled',
    },
  )
