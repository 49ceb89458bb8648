import type { Member, ProcessId, Signal } from '../../model/index.ts'
import type { Counted } from '../look/look.ts'
import type { EndPorts } from '../ports.ts'
import { untilGone } from './wait-until-gone.ts'

/** One look at a tree that is being ended. `proven`: empty, and a cgroup says so; without one it takes a second look. */
export type Seen = Pick<Counted, 'members' | 'strangers' | 'blind' | 'served' | 'ask'> & { readonly proven: boolean }
export type Look = () => Promise<Seen>
/** What a round of ending works with. `stuck`: none of these can be signalled. */
export type Round = {
  readonly look: Look
  readonly signal: (member: Member, name: Signal) => void
  readonly stuck: (members: readonly Member[]) => boolean
}

/** Nobody is left to signal, and no daemon works on it. */
export const isEmpty = ({ members, served }: Pick<Seen, 'members' | 'served'>): boolean => members.length === 0 && served.length === 0

export const keyOf = (id: ProcessId): string => `${id.pid}:${id.ticks}`

/** How long members may take before we look for new ones among them. */
export const SCAN_EVERY_MS = 250

/**
 * All that is in the cgroup is killed at once, those being born included. Who is in it and not of the run first goes to where it was made;
 * as long as such are found, somebody may have been born to them meanwhile, and it is looked again.
 */
export async function killTogether(cgroup: string, first: Seen, look: Look, hands: EndPorts): Promise<Seen> {
  const around = cgroup.slice(0, cgroup.lastIndexOf('/'))
  let seen = first
  for (let tries = 0; seen.strangers.length > 0; tries++) {
    if (tries === EVACUATIONS || !seen.strangers.every(({ pid }) => hands.containers.admit(around, pid))) return seen
    seen = await look()
  }
  if (!hands.containers.kill(cgroup)) return seen
  await untilGone(
    seen.members.map(({ row }) => row),
    hands,
    SCAN_EVERY_MS,
  )
  return look()
}
const EVACUATIONS = 5

/** What a daemon does by itself cannot be signalled. */
export const isOnlyServed = ({ members, served }: Pick<Seen, 'members' | 'served'>): boolean => members.length === 0 && served.length > 0

export async function freezeAndKill({ look, signal, stuck }: Round, hands: EndPorts): Promise<Seen> {
  const until = hands.clock.elapsed() + hands.policy.killMs
  let seen = await look()
  for (let round = 0, empty = 0; round < hands.policy.killRounds; round++) {
    const frozen = new Set<string>()
    for (let fresh = seen.members; fresh.length > 0 && hands.clock.elapsed() < until; ) {
      for (const member of fresh) {
        signal(member, 'SIGSTOP')
        frozen.add(keyOf(member.row))
      }
      seen = await look()
      fresh = seen.members.filter((member) => !frozen.has(keyOf(member.row)))
    }
    for (const member of seen.members) signal(member, 'SIGKILL')
    await untilGone(
      seen.members.map(({ row }) => row),
      hands,
      SCAN_EVERY_MS,
    )
    seen = await look()
    empty = isEmpty(seen) ? empty + 1 : 0
    if (seen.proven || empty === 2 || isOnlyServed(seen) || (seen.members.length > 0 && stuck(seen.members)) || hands.clock.elapsed() >= until) break
  }
  return seen
}
