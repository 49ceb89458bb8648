import type { DaemonHealth, DaemonPresence, DaemonStatus, PartHealth, ProcessId } from '../model/index.ts'
import { type Paint, plain } from './paint.ts'
import { table } from './table.ts'
import { age, iso } from './time.ts'

/** What `daemon status` tells, and whether all is well. `version`: of this command. */
export function daemonText({ presence, answer, health }: DaemonStatus, version: string, now: number, paint: Paint): string[] {
  if (presence.kind === 'none' || presence.kind === 'dead') return ['no daemon runs']
  const { record } = presence
  const about = record === null ? '' : ` (${plain(record.version)}, since ${age(now - record.startedAt)}, by daemon ${record.startedBy})`
  const how = answer?.kind === 'health' ? stateText(answer.health, paint) : paint.red(silence(answer, presence, health, now))
  return [
    `${paint.bold(`daemon ${whoText(presence)}`)}${about}: ${how}`,
    ...(presence.kind === 'unseen' ? [`  it cannot be judged from here: ${plain(presence.why)}`] : []),
    ...(record?.http == null ? [] : [`  ${plain(record.http)}`]),
    ...table((health?.parts ?? []).map((part) => partCells(part, now, paint))),
    ...(record === null ? [] : versionText(record.version, version)),
  ]
}

const whoText = (presence: DaemonPresence): string => `pid ${pidIn(presence) ?? '?'}`

/** Of one that cannot be judged: as it is on record. */
function pidIn(presence: DaemonPresence): number | null {
  if (presence.kind === 'alive') return pidOf(presence)
  return presence.kind === 'unseen' && presence.record !== null ? pidOf(presence.record) : null
}
const pidOf = ({ process: { pid } }: { readonly process: ProcessId }): number => pid

const stateText = ({ healthy, why }: DaemonHealth, paint: Paint): string =>
  healthy ? paint.green('healthy') : paint.red(`unhealthy: ${plain(why ?? '')}`)

function silence(answer: DaemonStatus['answer'], presence: DaemonPresence, health: DaemonHealth | null, now: number): string {
  const why = silenceWhy(answer, presence)
  return health === null ? why : `${why}; as of ${age(now - health.at)} ago: ${health.healthy ? 'healthy' : plain(health.why ?? 'unhealthy')}`
}

/** Why nothing can be said of how it does now. */
function silenceWhy(answer: DaemonStatus['answer'], presence: DaemonPresence): string {
  if (presence.kind === 'alive' && presence.frozen) return 'does not answer: it is frozen (kill -CONT wakes it)'
  if (answer?.kind === 'other') return `speaks another protocol (${answer.protocol ?? '?'}) than this command`
  return `does not answer${answer?.kind === 'silent' ? ` (${plain(answer.why)})` : ''}`
}

function partCells(part: PartHealth, now: number, paint: Paint): { text: string; paint?: (text: string) => string }[] {
  const since = part.lastSuccess === null ? 'from its start' : `since ${age(now - part.lastSuccess)}`
  const state = part.failures > 0 ? `failing ×${part.failures} ${since}` : part.lastSuccess === null ? 'begins' : 'ok'
  const next = part.nextTry === null ? 'at work' : `next in ${age(part.nextTry - now)}`
  const counts = Object.entries(part.counts).map(([name, count]) => `${name} ${count}`)
  return [
    { text: `  ${plain(part.name)}` },
    { text: state, paint: part.failures > 0 ? paint.red : paint.green },
    { text: next },
    { text: plain(part.failures > 0 ? (part.lastError ?? '') : counts.join(', ')) },
  ]
}

/** A newer or older one is told, with what to do about it; nothing, if they are the same. */
export const versionText = (daemon: string | null, command: string): string[] =>
  daemon === command
    ? []
    : [`the daemon is ${plain(daemon ?? 'of another version')}, this command ${command}: ${isNewer(daemon, command) ? USE_NEWER : START_ANEW}`]

const START_ANEW = 'holdfast daemon stop && holdfast daemon start'
const USE_NEWER = 'use the newer holdfast, which the daemon was started by (type -a holdfast shows all there are)'

/** By its numbers: what comes after them does not count. */
function isNewer(one: string | null, other: string): boolean {
  const [ours, theirs] = [numbersOf(other), numbersOf(one ?? '')]
  const at = theirs.findIndex((number, index) => number !== ours[index])
  return at >= 0 && (theirs[at] ?? 0) > (ours[at] ?? 0)
}

const numbersOf = (version: string): number[] => (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number)

const partJson = (part: PartHealth): Record<string, unknown> => ({ ...part, lastSuccess: iso(part.lastSuccess), nextTry: iso(part.nextTry) })

/** How it does, for whoever asks the daemon itself: with times as everywhere else. */
export const healthJson = (health: DaemonHealth): Record<string, unknown> => ({ ...health, at: iso(health.at), parts: health.parts.map(partJson) })

export function daemonJson(status: DaemonStatus, version: string): Record<string, unknown> {
  const { presence, answer, health } = status
  const record = 'record' in presence && presence.kind !== 'dead' ? presence.record : null
  return {
    pid: pidIn(presence),
    healthy: isWell(status),
    http: record?.http ?? null,
    parts: (health?.parts ?? []).map(partJson),
    liveness: presence.kind === 'alive' ? 'alive' : presence.kind === 'unseen' ? 'unknown' : 'dead',
    frozen: presence.kind === 'alive' && presence.frozen,
    answered: answer !== null && answer.kind !== 'silent',
    why: whyNot(status),
    asOf: iso(health?.at ?? null),
    version: record?.version ?? null,
    protocol: record?.protocol ?? null,
    startedAt: iso(record?.startedAt ?? null),
    startedBy: record?.startedBy ?? null,
    socket: record?.socket ?? null,
    command: version,
    repaired: status.repaired,
  }
}

/** It runs, answers, and nothing fails. */
export const isWell = ({ answer }: DaemonStatus): boolean => answer?.kind === 'health' && answer.health.healthy

function whyNot({ presence, answer }: DaemonStatus): string | null {
  if (presence.kind === 'none' || presence.kind === 'dead') return 'no daemon runs'
  const why = answer?.kind === 'health' ? answer.health.why : silenceWhy(answer, presence)
  return presence.kind === 'unseen' ? [why, `it cannot be judged from here: ${presence.why}`].filter((part) => part !== null).join('; ') : why
}
