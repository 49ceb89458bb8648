import type { HoldfastEvent, Member, ProcessRow, Saying, Spared, Suspect } from '../model/index.ts'
import { describeExit, isLive, totalTokens } from '../model/index.ts'
import { type Paint, plain } from './paint.ts'
import type { SessionView } from './session-view.ts'
import { activityText, stateColour } from './sessions-text.ts'
import { type Cell, table } from './table.ts'
import { containmentText, cpuText, taskText } from './task.ts'
import { age, iso } from './time.ts'
import { tokensText } from './usage.ts'

/** Nothing is left out in silence. */
export const unreadableText = (run: string, directory: string): string =>
  `run ${run} in the store cannot be read, and is left out; its directory is ${directory}`

/** A run directory that no row knows and that cannot be read. `pid`: a process of it that is alive. `next`: what to type. */
export type UnreadableRun = {
  readonly run: string
  readonly path: string
  readonly pid: number | null
  readonly why: string
  readonly next: string
}
export const unreadableRunText = ({ path, why, next }: UnreadableRun): string =>
  `${plain(path)}/run.json cannot be read, and no row has this run: ${why}; ${next}`

/** `status`: everything about one session, a fact a line. */
export function statusText(sight: SessionView, now: number, paint: Paint): string[] {
  const { session, run, liveness, pid, note, tasks } = sight
  const facts: [string, string | null][] = [
    ['run', `${run.id} (epoch ${run.epoch})`],
    ['liveness', liveness],
    ['activity', sight.activity == null ? null : `${activityText(sight.activity, now)} (${TOLD_BY[sight.activity.how]})`],
    ['agent', pid === null ? null : `pid ${pid}`],
    ['keeper', run.keeper === null ? null : `pid ${run.keeper.pid}`],
    ['command', plain(run.argv.join(' '))],
    ['directory', plain(run.dir)],
    [
      'worktree',
      sight.worktree ? plain(`of ${sight.worktree.repository ?? 'an unknown repository'}, on ${sight.worktree.branch ?? 'no branch'}`) : null,
    ],
    ...(sight.sharedWith ?? []).map((other): [string, string] => ['shared with', plain(other)]),
    ...(sight.neighbours ?? []).map((other): [string, string] => ['neighbour', `${plain(other)} (another worktree of its repository)`]),
    ['started', `${iso(run.startedAt)} (${age(now - run.startedAt)} ago) by ${run.user}@${run.host}${run.tty === null ? '' : ` on ${run.tty}`}`],
    ['attach', isLive(run) ? (run.detached ? `holdfast attach ${session.id}` : 'a foreground run: can be taken over, not attached') : null],
    ['tmux', isLive(run) && run.tmux !== null ? `session ${run.tmux.name} at ${plain(run.tmux.socket)}` : null],
    ['parent', run.parent],
    ['containment', isLive(run) ? containmentText(sight) : null],
    [
      'harness',
      session.harness === null
        ? null
        : `${session.harness}${session.native === null ? (session.wentTo === null ? ' (its own id of the session is not known yet)' : `; its conversation went on as session ${session.wentTo}`) : ` session ${plain(session.native)}`}`,
    ],
    ...saidFacts(sight, now),
    ['budget', run.budget === null ? null : `${run.budget} tokens`],
    ...tokensFacts(sight, now),
    ['burned', cpuText(sight.usage ?? (isLive(run) ? null : (run.usage ?? null)))],
    ...tasks.map((task): [string, string] => [task.run.task === null ? 'run in it' : 'task', taskText(task, now)]),
  ]
  if (isLive(run)) {
    if (run.state === 'stopping') facts.push(['asked', run.intent === null ? null : `${plain(run.intent.reason)} (by ${plain(run.intent.by)})`])
    if (run.state === 'stopping')
      for (const { pid: left, name, why } of run.survivors) facts.push(['survivor', `pid ${left} (${plain(name)}): ${why}`])
    facts.push(['note', note && plain(note)])
    if (liveness === 'unknown')
      facts.push(['next', `look from where it runs; or, if you know that it is gone: holdfast resolve ${session.id} --gone`])
  } else {
    facts.push(
      ['ended', `${iso(run.endedAt)} (${age(now - run.endedAt)} ago) after ${age(run.endedAt - run.startedAt)}`],
      ['exit', run.exit === null ? 'unknown' : describeExit(run.exit)],
    )
    facts.push(['reason', plain(run.reason)], ['by', plain(run.by)], ...run.evidence.map((line): [string, string] => ['evidence', plain(line)]))
  }
  const title = `${paint.bold(session.id)}${session.name === null ? '' : ` (${session.name})`} ${stateColour(run.state, paint)(run.state)}`
  const told = facts.filter(([, value]) => value !== null)
  const width = Math.max(...told.map(([name]) => name.length))
  return [title, ...told.map(([name, value]) => `  ${paint.dim(name.padEnd(width))}  ${value}`)]
}

const TOLD_BY = { hook: 'its harness says so, by a hook', registry: 'its harness says so', output: 'by its output alone' } as const

function saidFacts({ said, unread = 0, unreadEarlier = 0 }: SessionView, now: number): [string, string | null][] {
  const line = (saying: Saying | null | undefined): string | null => (saying == null ? null : `${plain(saying.text)} (${age(now - saying.at)} ago)`)
  return [
    ['plan', line(said?.plan)],
    ['result', line(said?.result)],
    ['messages', unread === 0 ? null : `${unread} unread${unreadEarlier === 0 ? '' : `, ${unreadEarlier} of them sent to a run that is over`}`],
  ]
}

function tokensFacts({ tokens }: SessionView, now: number): [string, string | null][] {
  if (tokens === undefined) return []
  const { run, session, unwatched } = tokens
  return [
    ['tokens', run === null ? null : tokensText(run)],
    ['in all runs', session === null || (run !== null && totalTokens(session) === totalTokens(run)) ? null : tokensText(session)],
    [
      'unwatched',
      unwatched === null
        ? null
        : `it has burned ${tokensText(unwatched.tokens)} since ${iso(unwatched.since)} (${age(now - unwatched.since)} ago), when it was last watched`,
    ],
  ]
}

/** What is shown of a session's processes. */
export type TreeView = { readonly members: readonly Member[]; readonly suspects: readonly Suspect[]; readonly spared: readonly Spared[] }

export function treeText({ members, suspects, spared }: TreeView, paint: Paint): string[] {
  if (members.length + suspects.length + spared.length === 0) return [paint.dim('no processes')]
  const depth = depths(members)
  const head: Cell[] = ['PID', 'STATE', 'PROOF', 'PORTS', 'NAME'].map((text) => ({ text, paint: paint.dim }))
  const rows = inOrder(members).map(({ row, proof, ports = [] }): Cell[] => [
    { text: String(row.pid) },
    { text: row.state },
    { text: proof },
    { text: ports.length === 0 ? '-' : ports.join(',') },
    { text: `${'  '.repeat(depth.get(row.pid) ?? 0)}${plain(row.name)}` },
  ])
  const others = (kind: string, row: ProcessRow, why: string): Cell[] => [
    { text: String(row.pid) },
    { text: row.state },
    { text: kind, paint: paint.yellow },
    { text: '-' },
    { text: `${plain(row.name)}  · ${plain(why)}` },
  ]
  return table([
    head,
    ...rows,
    ...spared.map(({ row, why }) => others('spared', row, why)),
    ...suspects.map(({ row, pro, contra }) => others('suspect', row, suspectText(pro, contra))),
  ])
}

export const suspectText = (pro: readonly string[], contra: readonly string[]): string =>
  `for: ${pro.join(', ')}${contra.length === 0 ? '' : `; against: ${contra.join(', ')}`}`

/** Parents before their children. */
function inOrder(members: readonly Member[]): Member[] {
  const pids = new Set(members.map(({ row }) => row.pid))
  const below = (parent: number | null): Member[] =>
    members
      .filter(({ row }) => (parent === null ? !pids.has(row.parent) : row.parent === parent))
      .toSorted((a, b) => a.row.ticks - b.row.ticks || a.row.pid - b.row.pid)
      .flatMap((member) => [member, ...below(member.row.pid)])
  return below(null)
}

function depths(members: readonly Member[]): Map<number, number> {
  const depth = new Map<number, number>()
  for (const { row } of inOrder(members)) depth.set(row.pid, depth.has(row.parent) ? (depth.get(row.parent) ?? 0) + 1 : 0)
  return depth
}

/** The daemon's own are of no session: what it did stands where others say what happened. */
export const eventText = (event: HoldfastEvent, paint: Paint): string =>
  event.kind === 'daemon' ? daemonEventText(event, paint) : sessionEventText(event, paint)

function daemonEventText({ at, detail: { what, ...detail } }: HoldfastEvent, paint: Paint): string {
  return `${paint.dim(iso(at) ?? '')}  ${paint.bold('daemon')} ${plain(String(what ?? ''))}  ${detailText(detail)}`
}

const sessionEventText = (event: HoldfastEvent, paint: Paint): string =>
  `${paint.dim(iso(event.at) ?? '')}  ${paint.bold(event.session)} ${event.kind}  ${paint.dim(`${event.run} epoch ${event.epoch}`)}  ${detailText(event.detail)}`

function detailText(detail: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(detail).filter(([, value]) => value !== null && value !== '')
  return parts.map(([name, value]) => `${name}=${plain(typeof value === 'object' ? JSON.stringify(value) : String(value))}`).join(' ')
}

export const eventJson = ({ at, ...event }: HoldfastEvent): Record<string, unknown> => ({ ...event, at: iso(at) })
