import type { Agent, Member, ProcessRow, SendAnswer, Signal, Spared, Survivor } from '../../model/index.ts'
import { remember, withPorts } from '../look/journal.ts'
import { censusOf, markedAnywhere } from '../look/look.ts'
import type { EndPorts, Lookable } from '../ports.ts'
import { isStorm } from './fork-storm.ts'
import { freezeAndKill, isEmpty, isOnlyServed, keyOf, killTogether, type Look, type Round, SCAN_EVERY_MS, type Seen } from './kill.ts'
import { isThere, untilGone } from './wait-until-gone.ts'

export type TreeEnd = {
  /** Everyone who was asked to go, whether or not they went. */
  readonly ended: readonly Member[]
  /** Other agents among them. */
  readonly agents: readonly Agent[]
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
 * Ends everything that is proven to belong to a run. First TERM and CONT with a grace that lasts only while somebody uses it, then all
 * that is in its cgroup at once, then freeze until nothing new appears, and kill. Done means: seen empty, twice where no cgroup says so.
 */
export async function endTree(run: Lookable, hands: EndPorts, how: EndHow): Promise<TreeEnd> {
  const ended = new Map<string, Member>()
  const denied = new Map<string, SendAnswer>()
  const signal = (member: Member, name: Signal): void => {
    const answer = hands.processes.send(member.row, name)
    if (answer === 'denied' || answer === 'forbidden') denied.set(keyOf(member.row), answer)
  }
  const cgroup = hands.evidence.cgroup(run.id)
  const spared = new Map<string, Spared>()
  let agents: readonly Agent[] = []
  const look: Look = async () => {
    if (how.anywhere === true) return addTo(ended, await anywhere(run, hands))
    const seenBefore = [...ended.values()].map(({ row }) => row)
    const seen = await censusOf(run, hands, false, seenBefore)
    for (const one of seen.spared) spared.set(keyOf(one.row), one)
    const members = ended.size === 0 ? withPorts(seen.members, hands) : seen.members
    // Once they are gone nobody can tell what they were.
    if (ended.size === 0) agents = hands.nestedAgents(run, members)
    if (members.some(({ row }) => !ended.has(keyOf(row)))) remember(run, members, hands)
    return addTo(ended, {
      members,
      strangers: seen.strangers,
      blind: seen.blind,
      proven: seen.contained && seen.blind === null && isEmpty(seen),
      served: seen.served,
      ask: seen.ask,
    })
  }
  const stuck = (members: readonly Member[]): boolean => members.every((member) => denied.has(keyOf(member.row)))

  const round: Round = { look, signal, stuck }
  if (cgroup !== null && how.anywhere !== true) evictKeeper(run, cgroup, hands)
  // All at once is not for a cgroup that we ourselves are in.
  const whole = cgroup !== null && how.anywhere !== true && !isIn(cgroup, hands) ? cgroup : null
  const storm = whole !== null && (await isStorm(whole, hands))
  if (whole !== null && storm) hands.containers.freeze(whole)
  // What is frozen hears TERM first: nothing of it runs on before it knows.
  const thaw = (): void => void (cgroup !== null && hands.containers.thaw(cgroup))
  const endAll = async (): Promise<Seen> => {
    let seen = storm ? await look() : await askToLeave(await askDaemons(look, hands), { ...round, thaw }, hands, how)
    const isSelf = [...denied.values()].includes('forbidden')
    if (seen.members.length > 0 && whole !== null && !isSelf) seen = await killTogether(whole, seen, look, hands)
    if (seen.members.length > 0 && !stuck(seen.members)) seen = await freezeAndKill(round, hands)
    // A daemon starts what was killed again: then it is asked again, and what came of it is told.
    return seen.ask.length === 0 ? seen : askToLeave(await askDaemons(look, hands), { ...round, thaw }, hands, how)
  }
  // Whatever happens, nobody is left frozen.
  const left = storm ? await endAll().finally(thaw) : await endAll()
  return {
    ended: [...ended.values()],
    agents,
    survivors: [
      ...left.members.map(({ row }) => ({ pid: row.pid, name: row.name, why: whyAlive(row, denied.get(keyOf(row))) })),
      ...left.served.map(({ row, why }) => ({ pid: row.pid, name: row.name, why })),
    ],
    spared: [...spared.values()].filter(({ row }) => isThere(row, hands.processes)),
    blind: isEmpty(left) ? left.blind : null,
  }
}

function addTo(ended: Map<string, Member>, seen: Seen): Seen {
  for (const member of seen.members) if (!ended.has(keyOf(member.row))) ended.set(keyOf(member.row), member)
  return seen
}

/** A keeper that its agent has moved into the cgroup would fill it with helpers while we look. */
function evictKeeper({ keeper }: Lookable, cgroup: string, { cgroups, containers, processes }: EndPorts): void {
  const view = cgroups.view(cgroup)
  if (keeper !== null && view.kind === 'present' && view.pids.has(keeper.pid) && isThere(keeper, processes))
    containers.admit(cgroup.slice(0, cgroup.lastIndexOf('/')), keeper.pid)
}

function isIn(cgroup: string, { cgroups, processes }: EndPorts): boolean {
  const view = cgroups.view(cgroup)
  return view.kind === 'present' && view.pids.has(processes.self().pid)
}

/** What a harness's daemon does for us is ended the harness's own way first: it would start its worker again if that were only killed. */
async function askDaemons(look: Look, hands: EndPorts): Promise<Seen> {
  let seen = await look()
  for (let round = 0; seen.ask.length > 0 && round < ASK_ROUNDS; round++) {
    for (const { of, asking } of seen.ask) await hands.ask(asking, hands.processes.environment(of), hands.policy.askMs)
    const until = hands.clock.elapsed() + ANSWER_MS
    for (seen = await look(); seen.ask.length > 0 && hands.clock.elapsed() < until; seen = await look())
      await hands.clock.sleep(hands.policy.pollMaxMs)
  }
  return seen
}
const ASK_ROUNDS = 3
/** How long the harness's own record may take to show what it has done. */
const ANSWER_MS = 2000

/** Each hears TERM once. What somebody starts in its grace is its clean-up: that hears it only when it is left alone. */
async function askToLeave(before: Seen, { look, signal, stuck, thaw }: Round & { thaw: () => void }, hands: EndPorts, how: EndHow) {
  const began = hands.clock.elapsed()
  const until = began + how.graceMs
  const asked = new Set<string>()
  const early = new Set<string>()
  for (let empty = 0, first = true, seen = before; ; first = false, seen = await look()) {
    empty = isEmpty(seen) ? empty + 1 : 0
    if (seen.proven || empty === 2 || isOnlyServed(seen) || (seen.members.length > 0 && stuck(seen.members))) return seen
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
    thaw()
    if (empty > 0) continue
    if (hands.clock.elapsed() >= until) return seen
    await untilGone(
      seen.members.map(({ row }) => row),
      hands,
      Math.min(SCAN_EVERY_MS, until - hands.clock.elapsed()),
    )
  }
}

function whyAlive(row: ProcessRow, answer: SendAnswer | undefined): string {
  if (answer === 'denied') return `it belongs to another user (uid ${row.uid}) and may not be signalled`
  if (answer === 'forbidden') return 'it is this very command, or one that it was started from'
  return row.state === 'D' ? 'it is uninterruptible (state D)' : 'it did not end'
}

/** Pids recorded elsewhere mean nothing here, but a marker does, unless something speaks against its bearer. */
async function anywhere(run: Lookable, hands: EndPorts): Promise<Seen> {
  const { members, blind } = await markedAnywhere(run, hands)
  return { members, strangers: [], blind, proven: false, served: [], ask: [] }
}
