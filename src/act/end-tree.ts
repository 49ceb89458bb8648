import type {
  Clock,
  Containers,
  Keepers,
  Member,
  Policy,
  Processes,
  ProcessId,
  ProcessRow,
  SendAnswer,
  Signal,
  Spared,
  Survivor,
} from '../model/index.ts'
import { isDead } from '../model/index.ts'
import { remember, withPorts } from './journal.ts'
import { censusOf, type Eyes, type Lookable } from './look.ts'

export type Hands = Eyes & {
  readonly clock: Clock
  readonly policy: Policy
  readonly containers: Containers
  /** Has a harness end something its own way. */
  readonly ask: Keepers['ask']
}
export type TreeEnd = {
  /** Everyone who was asked to go, whether or not they went. */
  readonly ended: readonly Member[]
  readonly survivors: readonly Survivor[]
  /** Born inside, and left alone. */
  readonly spared: readonly Spared[]
  /** Why emptiness could not be proven although nobody was found. */
  readonly blind: string | null
}

/**
 * A signal that was sent before we came, and who heard it. `since`, in ticks: what was born from then on is the doing of those who did.
 * `wasTerm`: if it was another one (HUP), those who are still there at half of their grace hear TERM as well.
 */
export type Told = { readonly heard: (row: ProcessRow) => boolean; readonly since: number; readonly wasTerm: boolean }

/** `anywhere`: by marker alone, for a run recorded in another place. */
export type EndHow = { readonly graceMs: number; readonly told?: Told; readonly anywhere?: boolean }

/**
 * Ends everything that is proven to belong to a run. First TERM and CONT with a grace that lasts only while somebody uses it,
 * then freeze until nothing new appears, and kill. Done means: seen empty, twice.
 */
export async function endTree(run: Lookable, hands: Hands, how: EndHow): Promise<TreeEnd> {
  const ended = new Map<string, Member>()
  const denied = new Map<string, SendAnswer>()
  const signal = (member: Member, name: Signal): void => {
    const answer = hands.processes.send(member.row, name)
    if (answer === 'denied' || answer === 'forbidden') denied.set(keyOf(member.row), answer)
  }
  const cgroup = hands.files.cgroup(run.id)
  let spared: readonly Spared[] = []
  const look: Look = async () => {
    if (how.anywhere === true) return addTo(ended, await anywhere(run, hands))
    const seenBefore = [...ended.values()].map(({ row }) => row)
    const seen = await censusOf(run, hands, false, seenBefore)
    spared = seen.spared
    const members = ended.size === 0 ? withPorts(seen.members, hands) : seen.members
    if (members.some(({ row }) => !ended.has(keyOf(row)))) remember(run, members, hands)
    return addTo(ended, {
      members,
      strangers: seen.strangers,
      blind: seen.blind,
      proven: seen.contained && seen.blind === null && members.length === 0,
    })
  }
  const stuck = (members: readonly Member[]): boolean => members.every((member) => denied.has(keyOf(member.row)))

  if (cgroup !== null) hands.containers.thaw(cgroup)
  // A daemon would start its worker again if that were only killed.
  if (how.anywhere !== true)
    for (const { of, command } of (await censusOf(run, hands, false)).ask)
      await hands.ask(command, hands.processes.environment(of), hands.policy.askMs)
  let left = await askToLeave(look, signal, stuck, hands, how)
  if (left.members.length > 0 && cgroup !== null && how.anywhere !== true) left = await killTogether(cgroup, left, look, hands)
  if (left.members.length > 0 && !stuck(left.members)) left = await freezeAndKill(look, signal, stuck, hands)
  return {
    ended: [...ended.values()],
    survivors: left.members.map(({ row }) => ({ pid: row.pid, name: row.name, why: whyAlive(row, denied.get(keyOf(row))) })),
    spared,
    blind: left.members.length === 0 ? left.blind : null,
  }
}

/** `proven`: empty, and a cgroup says so; without one it takes a second look. */
type Seen = {
  readonly members: readonly Member[]
  readonly strangers: readonly ProcessRow[]
  readonly blind: string | null
  readonly proven: boolean
}

function addTo(ended: Map<string, Member>, seen: Seen): Seen {
  for (const member of seen.members) if (!ended.has(keyOf(member.row))) ended.set(keyOf(member.row), member)
  return seen
}

type Look = () => Promise<Seen>
type Send = (member: Member, name: Signal) => void

/** Each hears TERM once. What somebody starts in its grace is its clean-up: that hears it only when it is left alone. */
async function askToLeave(look: Look, signal: Send, stuck: (members: readonly Member[]) => boolean, hands: Hands, how: EndHow) {
  const began = hands.clock.elapsed()
  const until = began + how.graceMs
  const asked = new Set<string>()
  const early = new Set<string>()
  for (let empty = 0, first = true; ; first = false) {
    const seen = await look()
    empty = seen.members.length === 0 ? empty + 1 : 0
    if (seen.proven || empty === 2 || (seen.members.length > 0 && stuck(seen.members))) return seen
    const here = new Set(seen.members.map(({ row }) => row.pid))
    const inTime = hands.clock.elapsed() - began < how.graceMs / 2
    for (const member of seen.members) {
      const { row } = member
      const key = keyOf(row)
      const late = how.told !== undefined && row.ticks >= how.told.since
      if (first && !late) early.add(key)
      const cleansUp = !early.has(key) && here.has(row.parent)
      const heard = how.told?.heard(row) === true && (how.told.wasTerm || inTime)
      if (!cleansUp && !heard && !asked.has(key)) {
        signal(member, 'SIGTERM')
        asked.add(key)
      }
      // A frozen process hears TERM only once it runs again.
      signal(member, 'SIGCONT')
    }
    if (empty > 0) continue
    if (hands.clock.elapsed() >= until) return seen
    await untilGone(
      seen.members.map(({ row }) => row),
      hands,
      Math.min(SCAN_EVERY_MS, until - hands.clock.elapsed()),
    )
  }
}

/** How long members may take before we look for new ones among them. */
const SCAN_EVERY_MS = 250

/** Who is in the cgroup and not of the run goes to where it was made; then all that is left in it is killed at once, those being born included. */
async function killTogether(cgroup: string, seen: Seen, look: Look, hands: Hands): Promise<Seen> {
  const around = cgroup.slice(0, cgroup.lastIndexOf('/'))
  if (!seen.strangers.every(({ pid }) => hands.containers.admit(around, pid)) || !hands.containers.kill(cgroup)) return seen
  await untilGone(
    seen.members.map(({ row }) => row),
    hands,
    SCAN_EVERY_MS,
  )
  return look()
}

async function freezeAndKill(look: Look, signal: Send, stuck: (members: readonly Member[]) => boolean, hands: Hands) {
  const until = hands.clock.elapsed() + hands.policy.killMs
  let seen = await look()
  for (let round = 0, empty = 0; round < hands.policy.killRounds; round++) {
    const frozen = new Set<string>()
    for (let fresh = seen.members; fresh.length > 0; ) {
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
    empty = seen.members.length === 0 ? empty + 1 : 0
    if (seen.proven || empty === 2 || (seen.members.length > 0 && stuck(seen.members)) || hands.clock.elapsed() >= until) break
  }
  return seen
}

/** Waits until all of them are gone, or the time is over; looks only at them. */
export async function untilGone(
  processIds: readonly ProcessId[],
  { processes, clock, policy }: Pick<Hands, 'processes' | 'clock' | 'policy'>,
  ms: number,
): Promise<void> {
  const until = clock.elapsed() + ms
  for (let delay = policy.pollMinMs; clock.elapsed() < until; delay = Math.min(delay * 2, policy.pollMaxMs)) {
    if (!processIds.some((id) => isThere(id, processes))) return
    await clock.sleep(delay)
  }
}

export function isThere(id: ProcessId, processes: Processes): boolean {
  const seen = processes.sample(id.pid)
  if (seen.kind === 'absent') return false
  return seen.kind === 'hidden' || (seen.row.ticks === id.ticks && !isDead(seen.row.state))
}

function whyAlive(row: ProcessRow, answer: SendAnswer | undefined): string {
  if (answer === 'denied') return `it belongs to another user (uid ${row.uid}) and may not be signalled`
  if (answer === 'forbidden') return 'it is this very command, or one that it was started from'
  return row.state === 'D' ? 'it is uninterruptible (state D)' : 'it did not end'
}

const keyOf = (id: ProcessId): string => `${id.pid}:${id.ticks}`

/** Pids recorded elsewhere mean nothing here, but a marker does: whoever carries it is of that run, wherever it was started. */
async function anywhere(run: Lookable, { processes }: Hands): Promise<Seen> {
  const { rows, blind } = processes.table({ since: 0, cookies: false })
  const members = rows.filter((row) => run.marker !== null && row.marker === run.marker && !isDead(row.state))
  return { members: members.map((row) => ({ row, proof: 'marker' })), strangers: [], blind, proven: false }
}
