import type { Member, Run, RunEnd, Spared, Survivor, Suspect } from '../model/index.ts'
import { describeMember, isLive, policy, portsFirst } from '../model/index.ts'
import { plain } from './paint.ts'
import { suspectJson } from './session-view.ts'

/** What came of a wish to end a session: of its run or, where there was none to end here, why. */
export type End =
  | RunEnd
  | { readonly kind: 'not-running'; readonly run: Run | null }
  | { readonly kind: 'handed-over'; readonly run: Run; readonly pid: number }

/** `sleep (pid 12), node (pid 13)`, and how many more. */
export function membersText(members: readonly Member[], atMost: number = policy.namedAtMost): string {
  const named = members.slice(0, atMost).map((member) => plain(describeMember(member)))
  const rest = members.length - named.length
  return `${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** What `stop` tells: what was ended, and that it was seen gone. */
export function stoppedText(session: string, end: End): string[] {
  switch (end.kind) {
    case 'ended':
      return [
        `${session} ${end.run.state}${end.ended.length === 0 ? '' : `: ended ${count(end.ended.length, 'process', 'processes')}, seen gone: ${membersText(end.ended)}`}`,
        ...end.spared.map(({ row, why }) => `  left ${plain(row.name)} (pid ${row.pid}) running: ${why}`),
        ...(end.suspects ?? []).map(suspectText),
        ...(end.unrecorded === null ? [] : [`  not recorded (${end.unrecorded.message}); holdfast reconcile records it later`]),
      ]
    case 'survivors':
      return [`${whose(session, end.run)} still has survivors:`, ...end.survivors.map(survivorText)]
    case 'unknown':
      return [
        `${whose(session, end.run)} cannot be proven gone: ${plain(end.why)}`,
        `  look from where it runs; or, if you know that it is gone: holdfast resolve ${end.run.session} --gone`,
      ]
    case 'alive':
      return [`${session} is still alive`]
    case 'not-running':
      return [`${session} is not running${end.run !== null && !isLive(end.run) ? ` (${end.run.state}: ${plain(end.run.reason)})` : ''}`]
    case 'handed-over':
      return [`${session} is the session around this command; a stopper outside it (pid ${end.pid}) ends it now`]
  }
}

/** It may be a run that was started in it that could not be ended. */
const whose = (session: string, run: Run): string =>
  run.session === session ? session : `${session} is over, but ${run.session}, which was started in it,`

export const stoppedJson = (session: string, end: End): Record<string, unknown> => ({
  session,
  result: end.kind,
  state: end.run?.state ?? null,
  run: end.run?.id ?? null,
  ended: 'ended' in end ? end.ended.map(({ row, proof, ports = [] }) => ({ pid: row.pid, name: row.name, proof, ports })) : [],
  spared: end.kind === 'ended' ? end.spared.map(({ row, why }) => ({ pid: row.pid, name: row.name, why })) : [],
  survivors: end.kind === 'survivors' ? end.survivors : [],
  suspects: end.kind === 'ended' ? (end.suspects ?? []).map(suspectJson) : [],
  why: end.kind === 'unknown' ? end.why : null,
})

/** The report of a takeover: every pid it ended. */
export function retiredText(end: End): string[] {
  if (end.kind === 'unknown') return [`${end.run.session}, which was started in it, cannot be proven gone: ${plain(end.why)}`]
  if (end.kind === 'survivors') return [`${end.run.session}, which was started in it, still has survivors:`, ...end.survivors.map(survivorText)]
  if (end.kind !== 'ended' || isLive(end.run)) return []
  const what =
    end.ended.length === 0
      ? 'nothing of it was left'
      : `ended ${count(end.ended.length, 'process', 'processes')}, seen gone: ${membersText(end.ended, end.ended.length)}`
  return [
    `took over ${end.run.session}: run ${end.run.id} (epoch ${end.run.epoch}) is ${end.run.state}; ${what}`,
    ...(end.suspects ?? []).map(suspectText),
  ]
}

/** What keeps a run from its end; null: nothing. */
export function stuckText(end: RunEnd, atMost: number): string | null {
  if (end.kind === 'unknown') return `it cannot be proven gone: ${plain(end.why)}`
  if (end.kind !== 'survivors') return null
  const named = end.survivors.slice(0, atMost).map((survivor) => survivorText(survivor).trim())
  const rest = end.survivors.length - named.length
  return `${count(end.survivors.length, 'survivor', 'survivors')}: ${named.join('; ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** A line each: what was ended after the agent, and what was not. */
function leftText(ended: readonly Member[], spared: readonly Spared[]): string[] {
  const lines = portsFirst(ended)
    .slice(0, policy.endedNamed)
    .map((member) => `ended ${plain(describeMember(member))}, which the agent had left running`)
  const rest = ended.length - lines.length
  return [
    ...lines,
    ...(rest > 0 ? [`and ${rest} more`] : []),
    ...spared.map(({ row, why }) => `left ${plain(row.name)} (pid ${row.pid}) running: ${why}`),
  ]
}

/** What a person at the terminal should know when a foreground run is over; nothing if all was as usual. */
export function finishedText(end: End): string[] {
  if (end.kind === 'survivors')
    return [`leftovers could not be ended: ${end.survivors.map(({ pid, name, why }) => `${plain(name)} (pid ${pid}): ${why}`).join('; ')}`]
  if (end.kind === 'alive') return [`session ${end.run.session} lives on with its tree (--until tree); holdfast stop ${end.run.session} ends it`]
  if (end.kind === 'unknown') return [`session ${end.run.session} could not be finished: ${plain(end.why)}; holdfast reconcile tries again`]
  if (end.kind !== 'ended' || isLive(end.run)) return []
  const left = leftText(end.ended, end.spared)
  const signal = end.run.exit?.signal ?? null
  const killed = end.run.state === 'failed' && signal !== null && !EXPECTED.includes(signal)
  const notable = killed || end.run.state === 'stopped' || end.run.state === 'superseded' || end.run.state === 'lost'
  return [...left, ...(notable ? [`session ${end.run.session} ${end.run.state}: ${plain(end.run.reason)}`] : [])]
}

/** Who has left a pane, or was left by it, is told what has become of the run. */
export const afterJoinText = (name: string, ended: { readonly state: string; readonly reason: string } | null, shown: boolean): string =>
  ended === null
    ? `${plain(name)} goes on; holdfast attach ${plain(name)} joins it again`
    : `${plain(name)} ${ended.state}: ${plain(ended.reason)}${shown ? `; holdfast logs ${plain(name)} shows what was on its screen` : ''}`

export const changeText = (change: { session: string; from: string; to: string; why: string; survivors: readonly Survivor[] }): string[] => [
  `${change.session}: ${change.from} → ${change.to}${change.why === '' ? '' : ` (${plain(change.why)})`}`,
  ...change.survivors.map(survivorText),
]

const suspectText = ({ row, pro, contra }: Suspect): string =>
  `  may be left: ${plain(row.name)} (pid ${row.pid}) ${pro.join(' and ')}, but ${contra.join(' and ')}; holdfast stop --suspect ${row.pid} ends it`

const survivorText = ({ pid, name, why }: Survivor): string => `  pid ${pid} (${plain(name)}): ${why}`

const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`

/** Deaths that are a person's own doing at a terminal, and that a shell does not mention either. */
const EXPECTED: readonly string[] = ['SIGINT', 'SIGPIPE']
