import type { Agent, LiveRun, NativeId, ProcessId, Run, Self, SelfProof, Session } from '../model/index.ts'
import { intentOf, isLive } from '../model/index.ts'

/** A run on record, with its session. */
export type OnRecord = { readonly session: Session; readonly run: Run }

/** `rival`: the process that this run has on record as its agent, if that is alive and another one. */
export type Listed = OnRecord & { readonly rival: number | null }

/** One of those that the caller was started from. */
export type Origin = {
  readonly process: ProcessId
  /** Undefined: it cannot be told. */
  readonly marker: number | null | undefined
  /** The run whose agent this very process is: its keeper's child, the one that was adopted, or the one on record. */
  readonly recorded: OnRecord | null
  /** The agent at work that it is. */
  readonly agent: Agent | null
  /** Whose the conversation is that this agent carries, where its harness itself tells which. */
  readonly listed: Listed | null
  /** What it is called if its harness keeps it for all of its sessions: the marker and environment that it hands on are its first caller's. */
  readonly daemon: string | null
}

/** `doubt`: why that is not believed, where only an environment says it. */
export type Served = NativeId & { readonly owner: OnRecord | null; readonly doubt: string | null }

export type SelfFacts = {
  /** The marker that the caller was born with, and the run that has it. */
  readonly marker: number | null
  readonly marked: OnRecord | null
  /** That run proves from its own side that the caller is of it: by its cgroup. Anybody can wear a marker. */
  readonly contained: boolean
  /** The run that its environment names, with the epoch and the secret that stand there. */
  readonly named: OnRecord | null
  readonly said: { readonly epoch: string | undefined; readonly secret: string | undefined }
  /** Those that it was started from, nearest first. */
  readonly origins: readonly Origin[]
  /** The conversation in a shared daemon that it was started by, as far as the harness tells, and whose that is. */
  readonly served: Served | null
  /** The agent that the marker's run is about lives, and is none of those. */
  readonly elsewhere: boolean
  /** Why the marker alone may have come through a shared daemon. */
  readonly doubt: string | null
}

/**
 * Who the caller is: the nearest that is proven. What was copied (an environment) proves nothing; what was inherited through a daemon that
 * works for many proves nothing either; and an agent that was started inside a session is not that session.
 */
export function decideSelf(facts: SelfFacts): Self {
  if (isThroughDaemon(facts)) return inDaemon(facts, daemonAround(facts))
  const own = ownRun(facts)
  const reach = own === null ? reachOf(facts.marker, facts.origins) : reachOfRun(own.record.run, facts.origins)
  const at = facts.origins.findIndex(({ recorded }) => recorded !== null)
  const nearer = facts.origins[at]?.recorded ?? null
  const isWorn = own !== null && nearer !== null && !isOwnIn(nearer, facts)
  if (nearer !== null && nearer.run.id !== own?.record.run.id && (at <= reach || isWorn)) return asNearest(byProcess(nearer, at), facts)
  const isUnproven = own?.how === 'marker' && nearer === null && !facts.contained
  if (own !== null && !isUnproven) return asNearest(own, facts, reach)
  const agent = facts.origins.slice(0, reach + 1).find((origin) => origin.agent !== null)
  if (agent !== undefined) return asAgent(agent, null)
  return nobody(own === null ? whyNobody(facts) : (facts.doubt ?? notByMarker(own.record)))
}

/** The run whose marker it carries may be that of a shared daemon's first caller, and none of its own. */
export const mayBeOthers = (facts: SelfFacts): boolean => isThroughDaemon(facts) || facts.doubt !== null

/** What was inherited has come through a shared daemon. */
const isThroughDaemon = (facts: SelfFacts): boolean => daemonAround(facts) !== null || isServed(facts)

/** Below the agent of another run, a caller is of the run that it is marked for only if that run's cgroup, or its secret in the one around it, says so. */
const isOwnIn = (around: OnRecord, facts: SelfFacts): boolean =>
  facts.contained || (facts.marked?.run.parent === around.run.id && isMarked(facts) && isSecretKnown(facts))

/** The run that is proven to be around the caller, whoever the caller is in it. */
export function provenAround(facts: SelfFacts): Run | null {
  const nearest = facts.origins.find(({ recorded }) => recorded !== null)?.recorded ?? null
  if (nearest !== null && nearest.run.id !== facts.marked?.run.id && !isOwnIn(nearest, facts)) return nearest.run
  const isProven = nearest !== null || facts.contained || (isMarked(facts) && isSecretKnown(facts))
  return isProven ? (facts.marked?.run ?? nearest?.run ?? null) : null
}

const notByMarker = ({ session, run }: OnRecord): string =>
  `it carries the marker of run ${run.id} (session ${session.id}), which anybody can wear, and nothing else proves that it is of it`

/** A run that the caller may be in. `at`: which of those around it is the agent of that run; -1: none. */
type Candidate = { readonly record: OnRecord; readonly how: SelfProof; readonly why: string; readonly at: number }

/** The first shared daemon around it from which it may have its marker: one that it got further in is its own. */
function daemonAround({ marker, origins }: SelfFacts): number | null {
  const at = origins.findIndex(({ daemon }) => daemon !== null)
  const inherited = origins[at]?.marker
  return at >= 0 && (marker === null || inherited === undefined || inherited === marker) ? at : null
}

/** Its environment has come through a shared daemon, and its marker with it: that is the one of the run which the environment names. */
const isServed = (facts: SelfFacts): boolean => facts.served !== null && isSecretKnown(facts) && (isMarked(facts) || isUnmarked(facts))

/** What a daemon started: the nearest agent that its harness lists, or the conversation that it names. Never the daemon's first caller. */
function inDaemon(facts: SelfFacts, daemon: number | null): Self {
  const { served, origins } = facts
  const below = origins.slice(0, daemon ?? reachOf(facts.marker, origins) + 1)
  const at = below.findIndex(({ recorded, agent }) => recorded !== null || agent !== null)
  const nearest = below[at]
  if (nearest?.recorded) return asNearest(byProcess(nearest.recorded, at), facts)
  const isApart = nearest?.listed != null || below.filter(({ agent }) => agent !== null).length > 1 || nearest?.agent?.harness !== served?.harness
  if (nearest !== undefined && isApart) return asAgent(nearest, null)
  const what = (daemon === null ? null : origins[daemon]?.daemon) ?? 'a shared daemon'
  if (served === null) return nobody(`it was started by ${what}, which works for many sessions and does not tell for which`)
  if (served.doubt !== null) return nearest === undefined ? nobody(served.doubt) : asAgent(nearest, null)
  const conversation = `${served.harness} session ${served.id} in ${what}`
  if (served.owner !== null) return asSession({ record: served.owner, how: 'registry', why: `it was started by ${conversation}`, at: -1 })
  return nearest === undefined ? nobody(`it was started by ${conversation}, which is on record for no session`) : asAgent(nearest, null)
}

/** By the marker that it carries, or by the secret of a run that could not be given one. */
function ownRun(facts: SelfFacts): Candidate | null {
  const { marked, named, origins } = facts
  const of = (record: OnRecord, how: SelfProof, why: string): Candidate => ({
    record,
    how,
    why,
    at: origins.findIndex(({ recorded }) => recorded?.run.id === record.run.id),
  })
  if (named !== null && isUnmarked(facts)) return of(named, 'cookie', `its environment has the secret of run ${named.run.id}, which has no marker`)
  if (marked === null) return null
  const { id } = marked.run
  return isMarked(facts) && isSecretKnown(facts)
    ? of(marked, 'cookie', `its environment has the secret and epoch of run ${id}, and it carries its marker`)
    : of(marked, 'marker', `it carries the marker of run ${id}`)
}

const isSecretKnown = ({ named, said }: SelfFacts): boolean =>
  named !== null && said.secret === named.run.cookie && said.epoch === String(named.run.epoch)
const isMarked = ({ marked, named }: SelfFacts): boolean => marked !== null && marked.run.id === named?.run.id

/** The run could not be given a marker: what is in it carries none, or that of the run which it was started in. */
const isUnmarked = (facts: SelfFacts): boolean =>
  isSecretKnown(facts) && facts.named?.run.marker === null && (facts.marked === null || facts.named.run.parent === facts.marked.run.id)

/** How far those reach who carry the same marker: they are of the same run. Without one it is all. */
const reachOf = (marker: number | null, origins: readonly Origin[]): number =>
  marker === null ? origins.length - 1 : origins.findLastIndex((origin) => origin.marker === marker)

/** Without a marker, up to its own agent; where that is none of them, that of another run is nearer than an environment, which can be copied. */
function reachOfRun({ id, marker }: Run, origins: readonly Origin[]): number {
  if (marker !== null) return reachOf(marker, origins)
  const own = origins.findIndex(({ recorded }) => recorded?.run.id === id)
  const other = origins.findIndex(({ recorded }) => recorded !== null)
  return own >= 0 ? own : other >= 0 ? other : origins.length - 1
}

const byProcess = (record: OnRecord, at: number): Candidate => ({
  record,
  how: 'process',
  why: `it was started by the process that is on record as the agent of run ${record.run.id}`,
  at,
})

/** Unless another agent stands in between: a run is about one, and what that starts is not it. */
function asNearest(candidate: Candidate, facts: SelfFacts, reach = candidate.at): Self {
  const { record, at, how } = candidate
  const agents = facts.origins.slice(0, (at >= 0 ? at : reach) + 1).filter(({ agent }) => agent !== null)
  const [nearest] = agents
  const isOther = at >= 0 ? agents.length > 1 : facts.elsewhere && nearest?.listed?.run.id !== record.run.id
  if (nearest !== undefined && isOther) return asAgent(nearest, record.session.id)
  if (how === 'marker' && at < 0 && nearest === undefined && facts.doubt !== null) return nobody(facts.doubt)
  return asSession(candidate)
}

/** Its harness tells which conversation it carries; if that is a live session's, it is that one, unless that has an agent of its own. */
function asAgent({ agent, listed }: Origin, inside: string | null): Self {
  if (agent === null) return nobody('no agent is around it')
  const who = `${agent.harness} (pid ${agent.row.pid})`
  if (listed !== null && listed.rival === null && isOwner(listed))
    return asSession({ record: listed, how: 'registry', why: `${who} is listed by its own harness with session ${agent.nativeId}`, at: -1 })
  const where = inside === null ? '' : `: it was started inside session ${inside}, which is about another agent`
  const also =
    listed === null || listed.rival === null ? '' : `; it carries the conversation of session ${listed.session.id}, as pid ${listed.rival} does`
  return { kind: 'agent', agent, inside, why: `Holdfast did not start ${who}${where}${also}` }
}

/** A run that is over, or whose session somebody else has by now, is nobody any more. */
function asSession({ record, how, why }: Candidate): Self {
  const { session, run } = record
  if (isOwner(record)) return { kind: 'session', session, run: record.run, how, why, note: noteOf(run) }
  if (session.epoch > run.epoch)
    return nobody(`session ${session.id} was taken over: this is its run ${run.id} of epoch ${run.epoch}, and epoch ${session.epoch} has it now`)
  return nobody(`run ${run.id} of session ${session.id} is over on record (${run.state}${isLive(run) ? '' : `: ${run.reason}`})`)
}

const isOwner = (record: OnRecord): record is { session: Session; run: LiveRun } => isLive(record.run) && record.session.epoch === record.run.epoch

function noteOf(run: Run): string | null {
  const intent = intentOf(run)
  return intent === null ? null : `it was asked to end by ${intent.by}: ${intent.reason}`
}

const nobody = (why: string): Self => ({ kind: 'nobody', why })

function whyNobody(facts: SelfFacts): string {
  const { marker, named, served } = facts
  if (marker !== null) return 'it carries the marker of a run that is not on record here'
  if (named !== null)
    return isSecretKnown(facts)
      ? `its environment is a copy of that of run ${named.run.id} (session ${named.session.id}): it does not carry the marker of that run`
      : `its environment names run ${named.run.id} (session ${named.session.id}), but not its secret and epoch`
  if (served !== null) return `its environment names ${served.harness} session ${served.id}, and nothing proves that`
  return 'it was started in no session'
}
