import type { DaemonFate, FoundDaemon, Neighbours } from '../../decide/index.ts'
import { fateOfDaemons } from '../../decide/index.ts'
import type { Environment, HarnessDaemon, Member, NativeId, ProcessRow, ProcessTable } from '../../model/index.ts'
import { isDead, sameProcess } from '../../model/index.ts'
import { bornAfter, type Lookable, type LookPorts, type Pass } from '../ports.ts'
import { straysOf } from './harness-daemon-strays.ts'

type InDaemons = Pick<DaemonFate, 'spared' | 'ours' | 'others' | 'served' | 'ask' | 'blind'> & {
  readonly named: readonly ProcessRow[]
  readonly leaked: ReadonlySet<number>
}

/**
 * What a harness's shared daemon does for this run and for others. What such a daemon starts carries the marker and the environment of the
 * daemon's first caller, whoever that was; but the harness itself puts the session's id into the environment of all that the session starts.
 * Environments are read only of the members of a run whose harness keeps a daemon, and of others only where its session may be in one.
 */
export function sessionsInDaemons(pass: Pass, run: Lookable, exitAt: number | null, members: readonly Member[], eyes: LookPorts): InDaemons {
  const judge = (known: readonly Member[]): InDaemons => judgeDaemons(pass, run, exitAt, known, eyes)
  const first = judge(members)
  // What is found so may itself have started a daemon (of another harness) that serves others by now.
  const more = first.named.filter((row) => !members.some((member) => sameProcess(member.row, row)))
  if (more.length === 0 || eyes.harnessDaemons(more).length === 0) return first
  return judge([...members, ...more.map((row): Member => ({ row, proof: 'harness-id' }))])
}

function judgeDaemons(pass: Pass, run: Lookable, exitAt: number | null, members: readonly Member[], eyes: LookPorts): InDaemons {
  const natives = eyes.agentState.natives(run.id).filter(({ harness }) => eyes.harnessDaemonRules.variables.has(harness))
  const handsTo = eyes.harnessDaemonRules.handsOver(run.argv)
  const worksThrough = eyes.harnessDaemonRules.worksThrough(run.argv)
  const ofInterest = [...natives.map(({ harness }) => harness), ...[handsTo, worksThrough].flatMap((harness) => harness ?? [])]
  const found = daemonsFor(pass.table, members, ofInterest, eyes)
  if (found.length === 0 && natives.length === 0) return NOTHING
  const { dir, startedAt } = run
  const fate = fateOfDaemons(found, { dir, startedAt, handsTo, worksThrough, exitAt }, natives)
  if (natives.length === 0 && handsTo !== null) learn(run, fate, eyes)
  const seen = { environment: environmentsIn(pass.table, eyes), fate, eyes }
  const named = isNear(handsTo, found, fate) ? namedIn(pass, run, seen) : []
  const leaked = [...fate.ours.map(({ pid }) => eyes.processes.marker(pid)), ...named.map(({ marker }) => marker)]
  return {
    ...fate,
    blind: fate.blind ?? startedNear(pass, run, seen),
    named,
    spared: [...fate.spared, ...straysOf(members, run, found, fate, eyes)],
    ours: [...fate.ours, ...named],
    others: [...fate.others, ...members.map(({ row }) => row).filter((row) => worksForOthers(row, seen))],
    leaked: new Set(leaked.flatMap((marker) => marker ?? [])),
  }
}

const NOTHING: InDaemons = { named: [], spared: [], ours: [], others: [], served: [], ask: [], blind: null, leaked: new Set() }

/** What a session has started that only lies ready, and may be this run's own. */
function startedNear({ table }: Pass, run: Lookable, { fate, environment, eyes }: SeenDaemons): string | null {
  for (const { harness, id } of fate.near) {
    const variable = eyes.harnessDaemonRules.variables.get(harness) ?? null
    const row =
      variable === null
        ? undefined
        : table.rows.find((one) => one.ticks >= bornAfter(run) && !isDead(one.state) && environment(one.pid)[variable] === id)
    if (row !== undefined) return `pid ${row.pid} (${row.name}) was started by ${harness} session ${id} in a shared daemon, which may be its own`
  }
  return null
}

/** The one session that was handed over: when it has left its daemon, only its id still tells what it has left behind. */
function learn(run: Lookable, { natives }: DaemonFate, { agentState }: LookPorts): void {
  const [only, ...more] = natives
  if (only !== undefined && more.length === 0) agentState.recordNative(run.id, only)
}

/** Those among its members and, where a session of ours may be in one that others started long ago, those of its harness among all. */
function daemonsFor(table: ProcessTable, members: readonly Member[], ofInterest: readonly string[], eyes: LookPorts): FoundDaemon[] {
  // A worker that speaks for its daemon is one of a session's own: it is not spared for being a daemon.
  const isBorn = ({ row, worker }: HarnessDaemon): boolean => worker !== true && members.some((member) => sameProcess(member.row, row))
  const found = ofInterest.length === 0 ? eyes.harnessDaemons(members.map(({ row }) => row)) : daemonsIn(table, eyes)
  return found
    .map((daemon) => ({ ...daemon, born: isBorn(daemon) }))
    .filter(({ born, harness }) => born || ofInterest.length === 0 || ofInterest.includes(harness))
}

/** Once a table, however many runs are looked for in it. */
const daemonsOf = new WeakMap<ProcessTable, readonly HarnessDaemon[]>()
function daemonsIn(table: ProcessTable, eyes: LookPorts): readonly HarnessDaemon[] {
  const known = daemonsOf.get(table) ?? eyes.harnessDaemons(table.rows.filter(({ state }) => !isDead(state)))
  daemonsOf.set(table, known)
  return known
}

const environmentsOf = new WeakMap<ProcessTable, Map<number, Environment>>()
function environmentsIn(table: ProcessTable, { processes }: LookPorts): (pid: number) => Environment {
  const known = environmentsOf.get(table) ?? new Map<number, Environment>()
  environmentsOf.set(table, known)
  return (pid) => {
    const environment = known.get(pid) ?? processes.environment(pid)
    known.set(pid, environment)
    return environment
  }
}

type SeenDaemons = { readonly environment: (pid: number) => Environment; readonly fate: DaemonFate; readonly eyes: LookPorts }

/** Can there be processes of its session that do not have its marker? Its daemon may be gone: it leaves soon after its last session. */
const isNear = (handsTo: string | null, found: readonly FoundDaemon[], { natives }: DaemonFate): boolean =>
  natives.some(({ harness }) => harness === handsTo || found.some((daemon) => daemon.harness === harness))

/** Whether a native id is among these: by all of it or, as some harnesses call their sessions, by its beginning. */
const has = (natives: readonly NativeId[], harness: string, id: string): boolean =>
  natives.some((native) => native.harness === harness && native.id.startsWith(id))

/** Is it in a session that a shared daemon has, or had, and whose? (Of any other session it is one that a plain process of ours has.) */
function standing(environment: Environment, { fate, eyes }: SeenDaemons): 'ours' | 'others' | 'none' {
  const { variables, backgroundId } = eyes.harnessDaemonRules
  let answer: 'ours' | 'none' = 'none'
  for (const [harness, variable] of variables) {
    const id = variable === null ? undefined : environment[variable]
    if (id === undefined || id === '') continue
    if (has(fate.foreign, harness, id)) return 'others'
    // Of a harness that is not ours it may be what the daemon's first caller was in.
    if (![...fate.natives, ...fate.foreign].some((native) => native.harness === harness)) continue
    const session = backgroundId(harness, environment)
    if (session === null) continue
    if (!has(fate.natives, harness, session)) return 'others'
    answer = 'ours'
  }
  return answer
}

const worksForOthers = (row: ProcessRow, seen: SeenDaemons): boolean => standing(seen.environment(row.pid), seen) === 'others'

/** Those that were born since the run began and are in one of its sessions, by their environment, whatever marker that brought along. */
function namedIn({ table, near }: Pass, run: Lookable, seen: SeenDaemons): ProcessRow[] {
  const since = bornAfter(run)
  return table.rows.filter((row) => {
    if (row.ticks < since || isDead(row.state)) return false
    const environment = seen.environment(row.pid)
    if (standing(environment, seen) !== 'ours') return false
    return isItsOwnMarker(row, run, near) ? cameWith(environment, row, seen.eyes) : true
  })
}

/** It has a marker, or a secret, that makes it another run's. */
const isItsOwnMarker = ({ marker = null, cookie = null }: ProcessRow, run: Lookable, { byMarker }: Neighbours): boolean =>
  marker === null ? run.marker === null && cookie !== null && cookie !== run.cookie : marker !== run.marker && byMarker.has(marker)

/**
 * Did the marker come with the environment, through the daemon? Then it is that of the run which the environment names. What Holdfast itself
 * starts in a session takes a marker of its own while its environment still names the run around it.
 */
function cameWith(environment: Environment, { marker = null, cookie = null }: ProcessRow, { runRecords }: LookPorts): boolean {
  const record = runRecords.read(environment['HOLDFAST_RUN'] ?? '')
  return record !== null && (marker === null ? record.cookie === cookie : record.marker === marker)
}
