import type { Anchor, AnchorVerdict, AnchorWord, Flock, Place, ProcessRow, Sample } from '../model/index.ts'
import { isDead, isPid } from '../model/index.ts'

/** What may be asked of the world about an anchor, at the moment of asking. */
export type AnchorFacts = {
  readonly here: Place
  readonly sample: (pid: number) => Sample
  /** Are the ticks that we see those that processes themselves see? Not in a time namespace of our own. */
  readonly ticksAreTrue: boolean
  /** Is it a program of that harness? Null: it may not be looked at. */
  readonly isProgramOf: (row: ProcessRow, harness: string) => boolean | null
  readonly isNamespaceGone: (pidNamespace: string) => boolean
  /** Processes of other pid namespaces that have this pid there; null: that cannot be told from here. */
  readonly namesakes: (pid: number) => readonly ProcessRow[] | null
  /** Who else may write where it lies, in words: the name of a network file system; null: only this machine. */
  readonly sharedBy: (path: string) => string | null
}

type Told = Extract<AnchorWord, { kind: 'process' }>

/** Is the process that an anchor names alive, dead, or can that not be said? What makes no sense is not even looked for. */
export function anchorVerdict(anchor: Anchor, eyes: AnchorFacts): AnchorVerdict {
  const { says } = anchor
  if (says.kind === 'malformed') return says
  if (says.kind === 'flock') return byLock(says.flock)
  if (!isPid(says.pid)) return { kind: 'malformed', why: `${says.pid} is no pid` }
  if (says.flock === 'held') return alive('its lock is held')
  const seen = eyes.sample(says.pid)
  if (isThere(says, seen, eyes.here)) return alive(`pid ${says.pid} is alive (born at tick ${says.ticks})`)
  return elsewhere(anchor, says, eyes) ?? here(anchor.harness, says, seen, eyes)
}

function byLock(flock: Flock): AnchorVerdict {
  if (flock === 'held') return alive('its lock is held')
  return flock === 'free' ? { kind: 'free', why: 'nobody holds its lock' } : unknown('whether its lock is held cannot be told')
}

/** This very process, and nothing that was written speaks against it. */
function isThere({ ticks, machine, bootId, pidNamespace }: Told, seen: Sample, here: Place): boolean {
  const written = [[machine, here.machine] as const, [bootId, here.boot] as const, [pidNamespace, here.pidNamespace] as const]
  return (
    seen.kind === 'seen' && seen.row.ticks === ticks && !isDead(seen.row.state) && written.every(([told, ours]) => told === null || told === ours)
  )
}

/** What can be said without a look at its pid, which means nothing where it was written elsewhere. Null: look. */
function elsewhere({ path }: Anchor, { machine, bootId, pidNamespace }: Told, eyes: AnchorFacts): AnchorVerdict | null {
  const { here } = eyes
  const shared = eyes.sharedBy(path)
  if (shared !== null) return unknown(`it lies on ${shared}, where another machine may have written it`)
  if (machine !== null && machine !== here.machine) return unknown('it was written on another machine')
  if (bootId !== null && here.boot === '') return unknown('the boot id could not be read')
  if (bootId !== null && bootId !== here.boot) return dead('the machine was started anew since')
  if (here.pidNamespace === '') return unknown('our own pid namespace could not be read, or /proc shows another one')
  if (pidNamespace === null || pidNamespace === here.pidNamespace) return null
  return eyes.isNamespaceGone(pidNamespace)
    ? dead(`its pid namespace (${pidNamespace}) no longer exists`)
    : unknown(`it is of another pid namespace (${pidNamespace}), which may live`)
}

/** By its pid as it is seen here. What we may not look at exists, and counts as alive. */
function here(harness: string, told: Told, seen: Sample, eyes: AnchorFacts): AnchorVerdict {
  const { pid, ticks } = told
  if (seen.kind === 'hidden') return alive(`pid ${pid} exists, and may not be looked at: ${seen.why}`)
  if (seen.kind === 'absent') return unlessNamesake(told, 'no such process', eyes)
  const { row } = seen
  if (ticks === null) return byProgram(harness, told, row, eyes)
  if (row.ticks === ticks) return dead('it ended (zombie)')
  if (!eyes.ticksAreTrue) return unknown('we are in a time namespace of our own, where births are told differently')
  return unlessNamesake(told, `pid ${pid} now belongs to another process`, eyes)
}

/** It does not tell when its process was born. A name alone proves no death: that takes a lock which nobody holds, too. */
function byProgram(harness: string, told: Told, row: ProcessRow, eyes: AnchorFacts): AnchorVerdict {
  const { pid, flock } = told
  if (isDead(row.state)) return unlessNamesake(told, `pid ${pid} ended (zombie)`, eyes)
  const isIts = eyes.isProgramOf(row, harness)
  if (isIts === null) return alive(`pid ${pid} exists, and may not be looked at`)
  if (isIts) return alive(`pid ${pid} is a ${harness}`)
  if (flock !== 'free') return unknown(`pid ${pid} is ${row.name} by now, but nothing else tells that the one which was meant is gone`)
  return unlessNamesake(told, `pid ${pid} now belongs to ${row.name}, and nobody holds its lock`, eyes)
}

/** One that does not tell its pid namespace may be of a container that shares this folder, and have its pid there. */
function unlessNamesake({ pid, ticks, pidNamespace }: Told, why: string, eyes: AnchorFacts): AnchorVerdict {
  if (pidNamespace !== null) return dead(why)
  const others = eyes.namesakes(pid)
  if (others === null) return unknown(`${why} here, but it may be in another pid namespace, which cannot be seen from here`)
  const there = others.filter(({ state }) => !isDead(state))
  const itself = there.find((row) => row.ticks === ticks)
  if (itself !== undefined) return alive(`it is pid ${itself.pid} here, and in another pid namespace`)
  return there[0] === undefined ? dead(why) : unknown(`${why} here, but pid ${there[0].pid} has that number in another pid namespace`)
}

const alive = (why: string): AnchorVerdict => ({ kind: 'alive', why })
const dead = (why: string): AnchorVerdict => ({ kind: 'dead', why })
const unknown = (why: string): AnchorVerdict => ({ kind: 'unknown', why })
