import type { Asking, HarnessDaemon, NativeId, ProcessId, Served, ServedSession, Spared } from '../model/index.ts'

/** What follows for the shared daemons that a run has to do with. */
export type DaemonFate = {
  /** Born in the run, and left alone: they serve others, or it could not be told. */
  readonly spared: readonly Spared[]
  /** Processes that a daemon has lent to this very run, wherever and whenever they were born. */
  readonly ours: readonly ProcessId[]
  /** Those that it has lent to others, and that may have lost it as their parent. */
  readonly others: readonly ProcessId[]
  /** The sessions that are ours, by the id that the harness gave them: those on record, and those that were told apart here. */
  readonly natives: readonly NativeId[]
  /** The sessions that daemons serve for others. */
  readonly foreign: readonly NativeId[]
  /** What daemons work on for us, to be ended the harness's own way before anything is signalled. */
  readonly served: readonly Working[]
  readonly ask: readonly Ask[]
  /** Sessions that lie ready in a daemon of others, and may be its own: what they have started may be, too. */
  readonly near: readonly NativeId[]
  /** Why it cannot be told whether this run's session goes on in a daemon. */
  readonly blind: string | null
}
export type Ask = { readonly of: number; readonly asking: Asking }
export type Working = Served & { readonly processes: readonly ProcessId[] }

/** `born`: the daemon was born in the run, so that what leaks through it is the run's own marker and environment. */
export type FoundDaemon = HarnessDaemon & { readonly born: boolean }

export type RunOfDaemon = {
  readonly dir: string
  readonly startedAt: number
  /** The harness to whose daemon its command hands its session; null: to none. */
  readonly handsTo: string | null
  /** The harness whose daemon its command may work through, whoever started that; null: of none. */
  readonly worksThrough: string | null
  /** When its command ended; null: it has not, as far as anybody knows. */
  readonly exitAt: number | null
}

/**
 * A session is ours if it has a native id of ours. Where none of that harness is on record, it is ours if it is the only one that was begun in
 * this very directory while the run had it, in a daemon that was born in the run, or by the run's own command, which has handed it over: that
 * is all a registry tells. Of two it cannot be told. Everything else is somebody else's.
 */
export function fateOfDaemons(daemons: readonly FoundDaemon[], run: RunOfDaemon, natives: readonly NativeId[]): DaemonFate {
  const fates = daemons.map((daemon) => fateOf(daemon, run, natives))
  return {
    spared: fates.flatMap((fate) => fate.spared),
    ours: fates.flatMap((fate) => fate.ours),
    others: fates.flatMap((fate) => fate.others),
    natives: [...natives, ...fates.flatMap((fate) => fate.natives)],
    foreign: fates.flatMap((fate) => fate.foreign),
    served: fates.flatMap((fate) => fate.served),
    ask: oncePer(fates.flatMap((fate) => fate.ask)),
    near: fates.flatMap((fate) => fate.near),
    blind: fates.map((fate) => fate.blind).find((why) => why !== null) ?? null,
  }
}

const NOTHING: DaemonFate = { spared: [], ours: [], others: [], natives: [], foreign: [], served: [], ask: [], near: [], blind: null }

function fateOf(daemon: FoundDaemon, run: RunOfDaemon, natives: readonly NativeId[]): DaemonFate {
  const { row, what, harness, served, stop, born } = daemon
  const known = natives.filter((native) => native.harness === harness).map(({ id }) => id)
  if (served === null) {
    const why = `${what}; it could not be told whom it serves`
    // A run that has handed its session to the daemon lives there, as far as anybody knows.
    return {
      ...NOTHING,
      spared: born ? [{ row, why }] : [],
      blind: run.handsTo === harness ? `${what} (pid ${row.pid}) ${UNTOLD}` : null,
    }
  }
  const begunHere = known.length > 0 ? [] : served.filter((session) => mayBeOurs(session, daemon, run))
  const isOurs = (session: ServedSession): boolean =>
    known.length > 0
      ? [session.nativeId, session.firstId ?? null].some((id) => id !== null && known.includes(id))
      : begunHere.length === 1 && session === begunHere[0]
  const ours = served.filter(isOurs)
  const others = served.filter((session) => !isOurs(session))
  const working = ours.filter(({ active }) => active)
  const idsOf = (sessions: readonly ServedSession[]): NativeId[] =>
    sessions.flatMap(({ nativeId, firstId = null }) => [...new Set([firstId, nativeId])].flatMap((id) => (id === null ? [] : [{ harness, id }])))
  const fate: DaemonFate = {
    ...NOTHING,
    ours: ours.flatMap(({ processes }) => processes),
    others: others.flatMap(({ processes }) => processes),
    natives: idsOf(ours),
    foreign: idsOf(others),
    served: working.map(({ nativeId, processes }) => ({ row, processes, why: `${what} still works on session ${nativeId ?? 'unknown'}` })),
    ask: working.flatMap((session) => (session.stop === null ? [] : [{ of: row.pid, asking: session.stop }])),
    near: known.length > 0 ? [] : idsOf(nearTo(daemon, run)),
    blind: known.length > 0 ? null : doubtOf(daemon, run, begunHere),
  }
  if (!born) return fate
  if (others.length > 0) return { ...fate, spared: [{ row, why: `${what}; it also serves ${sessionsIn(others)}` }] }
  // It serves nobody else: it ends with us, and its sessions with it.
  return stop === null ? fate : { ...fate, ask: [{ of: row.pid, asking: stop }] }
}
const UNTOLD = 'does not tell whom it serves'

/** Of two that were begun here it cannot be told which is its own; nor of one in a daemon of others that its command may work through. */
function doubtOf(found: FoundDaemon, run: RunOfDaemon, begunHere: readonly ServedSession[]): string | null {
  const daemon = `${found.what} (pid ${found.row.pid})`
  if (begunHere.length > 1) return `${daemon} has ${begunHere.length} sessions that were begun here, and it cannot be told which is its own`
  const near = nearTo(found, run).find(({ active }) => active)
  return near === undefined ? null : `${daemon} works here on session ${near.nativeId ?? 'unknown'}, which may be its own`
}

/** Those of a daemon that others started, and that its command may work through, which were begun here since. */
const nearTo = ({ harness, served, born }: FoundDaemon, run: RunOfDaemon): readonly ServedSession[] =>
  born || run.worksThrough !== harness ? [] : (served ?? []).filter(({ dir, since }) => dir === run.dir && since !== null && since >= run.startedAt)

/** What a command handed over was begun before that ended; of one whose end nobody saw, nothing is known. */
function mayBeOurs({ dir, since }: ServedSession, { harness, born }: FoundDaemon, { handsTo, exitAt, ...run }: RunOfDaemon): boolean {
  if (dir !== run.dir || since === null || since < run.startedAt) return false
  return born || (handsTo === harness && exitAt !== null && since <= exitAt)
}

const sessionsIn = (sessions: readonly ServedSession[]): string =>
  `${sessions.length === 1 ? 'a session' : `${sessions.length} sessions`} elsewhere (${sessions.map(({ dir }) => dir).join(', ')})`

/** Of several directories, those that lie nearest above a path, or are it; null: none does, or the path is not known. */
export function nearestOf<P extends { readonly dir: string }>(path: string | null, places: readonly P[]): readonly P[] | null {
  const above = path === null ? [] : places.filter(({ dir }) => path === dir || path.startsWith(dir.endsWith('/') ? dir : `${dir}/`))
  const depth = Math.max(...above.map(({ dir }) => dir.length))
  return above.length === 0 ? null : above.filter(({ dir }) => dir.length === depth)
}

/** A daemon and its helpers name the same sessions, and the same ways. */
const oncePer = (asks: readonly Ask[]): Ask[] => [...new Map(asks.map((ask) => [JSON.stringify(ask.asking), ask])).values()]
