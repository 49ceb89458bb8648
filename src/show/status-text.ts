import { describeExit, dollarsText, isLive, type Run, type Saying, totalTokens } from '../model/index.ts'
import { type Page, tilde, WIDE, wrapped } from './page.ts'
import { type Paint, plain } from './paint.ts'
import type { SessionView, WorktreeView } from './session-view.ts'
import { activityText, calledText, stateColour } from './sessions-text.ts'
import { containmentText, cpuText, taskText } from './task.ts'
import { age, localTime } from './time.ts'
import { tokensText } from './usage.ts'
import { cutWords } from './width.ts'

const MOST_WORDS = 60

type Fact = readonly [name: string, value: string | null]
/** Who reads it: when, how wide, and whether everything is wanted. */
export type Reader = { readonly now: number; readonly paint: Paint; readonly page?: Page; readonly whole?: boolean }

/** `status`: what a person needs of one session, a fact a line; with `whole` everything that is known. */
export function statusText(sight: SessionView, { now, paint, page = WIDE, whole = false }: Reader): string[] {
  const { session, run, liveness, activity = null } = sight
  const time = (at: number): string => `${localTime(at, now, page)} (${age(now - at)} ago)`
  const facts = (whole ? allFacts(sight, now, time) : briefFacts(sight, now, time)).filter(([, value]) => value !== null)
  const width = Math.max(...facts.map(([name]) => name.length))
  const lines = facts.flatMap(([name, value]) => {
    const [first = '', ...rest] = wrapped(`  ${name.padEnd(width)}  ${tilde(value ?? '', page)}`, page.columns, width + 4)
    return [`  ${paint.dim(name.padEnd(width))}${first.slice(width + 2)}`, ...rest]
  })
  const state = `${run.state}${liveness === 'unknown' && isLive(run) ? '?' : ''}`
  const doing = activity === null ? '' : ` · ${(activity.state === 'waiting' ? paint.yellow : plain)(activityText(activity, now))}`
  return [`${paint.bold(calledText(session))} ${stateColour(run.state, paint)(state)}${doing}`, ...lines]
}

type Time = (at: number) => string

/** Six lines with the title, and more only where there is more to do. */
function briefFacts(sight: SessionView, now: number, time: Time): Fact[] {
  const { session, run, pid, tasks } = sight
  const live = tasks.filter((task) => isLive(task.run)).length
  const words = cutWords(plain(session.harness === null ? run.argv.join(' ') : (sight.about ?? '')), MOST_WORDS)
  const { plan = null, result = null } = sight.said ?? {}
  return [
    [
      session.harness === null ? 'command' : 'agent',
      [session.harness, pid === null || !isLive(run) ? null : `pid ${pid}`, words].filter(Boolean).join(' · '),
    ],
    ...placeFacts(sight),
    ...(sight.sharedWith ?? []).map((other): Fact => ['shared with', plain(other)]),
    result === null ? ['plan', sayingText(plan, now)] : ['result', sayingText(result, now)],
    ['messages', unreadText(sight)],
    ['tasks', tasks.length === 0 ? null : `${live} live of ${tasks.length}: holdfast task ls ${session.id}`],
    ...tasks.flatMap((task): Fact[] => (task.nested === undefined ? [] : [['inside', taskText(task, now)]])),
    ['tokens', sight.tokens?.session == null ? null : tokensText(sight.tokens.session)],
    ['unwatched', unwatchedText(sight, time)],
    ...(isLive(run)
      ? ([['started', time(run.startedAt)], ...troubleFacts(sight), ['attach', attachText(sight)]] satisfies Fact[])
      : ([
          ['ended', `${time(run.endedAt)} after ${age(run.endedAt - run.startedAt)}`],
          ['reason', plain(run.reason)],
          ['next', session.native === null || session.wentTo !== null ? null : `holdfast resume ${session.id}`],
        ] satisfies Fact[])),
  ]
}

function allFacts(sight: SessionView, now: number, time: Time): Fact[] {
  const { run, liveness, pid, tasks } = sight
  const facts: Fact[] = [
    ['run', `${run.id} (epoch ${run.epoch})`],
    ['liveness', liveness],
    ['activity', sight.activity == null ? null : `${activityText(sight.activity, now)} (${TOLD_BY[sight.activity.how]})`],
    ['about', sight.about == null ? null : plain(sight.about)],
    ['agent', pid === null ? null : `pid ${pid}`],
    ['keeper', run.keeper === null ? null : `pid ${run.keeper.pid}`],
    ['marker', run.marker === null ? null : String(run.marker)],
    ['command', plain(run.argv.join(' '))],
    ...placeFacts(sight),
    ...(sight.sharedWith ?? []).map((other): Fact => ['shared with', plain(other)]),
    ...(sight.neighbours ?? []).map((other): Fact => ['neighbour', `${plain(other)} (another worktree of its repository)`]),
    ['started', `${time(run.startedAt)} by ${run.user}@${run.host}${run.tty === null ? '' : ` on ${run.tty}`}`],
    ['attach', isLive(run) ? attachText(sight) : null],
    ['tmux', isLive(run) && run.tmux !== null ? `session ${run.tmux.name} at ${plain(run.tmux.socket)}` : null],
    ['parent', run.parent],
    ['containment', isLive(run) ? containmentText(sight) : null],
    ['harness', harnessText(sight)],
    ['plan', sayingText(sight.said?.plan, now)],
    ['result', sayingText(sight.said?.result, now)],
    ['messages', unreadText(sight)],
    ['budget', budgetText(run)],
    ...tokensFacts(sight),
    ['unwatched', unwatchedText(sight, time)],
    ['burned', cpuText(sight.usage ?? (isLive(run) ? null : (run.usage ?? null)))],
    ...tasks.map((task): Fact => [task.run.task === null ? 'run in it' : 'task', taskText(task, now)]),
    ...troubleFacts(sight),
  ]
  if (isLive(run)) return facts
  return [
    ...facts,
    ['ended', `${time(run.endedAt)} after ${age(run.endedAt - run.startedAt)}`],
    ['exit', run.exit === null ? 'unknown' : describeExit(run.exit)],
    ['reason', plain(run.reason)],
    ['by', plain(run.by)],
    ...run.evidence.map((line): Fact => ['evidence', plain(line)]),
  ]
}

const budgetText = ({ budget, budgetCost }: Run): string | null =>
  budget !== null ? `${budget} tokens` : budgetCost === null ? null : dollarsText(budgetCost)

const TOLD_BY = { hook: 'its harness says so, by a hook', registry: 'its harness says so', output: 'by its output alone' } as const

const goneText = ({ gone, repository, branch }: WorktreeView): string =>
  gone !== true ? '' : repository === null || branch === null ? '; it was removed' : '; it was removed, and resume makes it again'

const placeFacts = ({ run, worktree }: SessionView): Fact[] => [
  ['directory', plain(run.dir)],
  [
    'worktree',
    worktree ? plain(`of ${worktree.repository ?? 'an unknown repository'}, on ${worktree.branch ?? 'no branch'}${goneText(worktree)}`) : null,
  ],
]

/** Who asked for an end, who survives it, what could not be told, and what can be done. */
function troubleFacts({ session, run, liveness, note }: SessionView): Fact[] {
  if (!isLive(run)) return []
  const stopping = run.state === 'stopping' ? run : null
  return [
    ['asked', stopping?.intent ? `${plain(stopping.intent.reason)} (by ${plain(stopping.intent.by)})` : null],
    ...(stopping?.survivors ?? []).map(({ pid, name, why }): Fact => ['survivor', `pid ${pid} (${plain(name)}): ${why}`]),
    ['note', note && plain(note)],
    ['next', liveness === 'unknown' ? `look from where it runs; or, if you know that it is gone: holdfast resolve ${session.id} --gone` : null],
  ]
}

const attachText = ({ session, run }: SessionView): string =>
  run.detached ? `holdfast attach ${session.id}` : 'a foreground run: can be taken over, not attached'

function harnessText({ session }: SessionView): string | null {
  if (session.harness === null) return null
  if (session.native !== null) return `${session.harness} session ${plain(session.native)}`
  return `${session.harness}${session.wentTo === null ? ' (its own id of the session is not known yet)' : `; its conversation went on as session ${session.wentTo}`}`
}

const sayingText = (saying: Saying | null | undefined, now: number): string | null =>
  saying == null ? null : `${plain(saying.text)} (${age(now - saying.at)} ago)`

const unreadText = ({ unread = 0, unreadEarlier = 0 }: SessionView): string | null =>
  unread === 0 ? null : `${unread} unread${unreadEarlier === 0 ? '' : `, ${unreadEarlier} of them sent to a run that is over`}`

function tokensFacts({ tokens }: SessionView): Fact[] {
  if (tokens === undefined) return []
  const { run, session } = tokens
  return [
    ['tokens', run === null ? null : tokensText(run)],
    ['in all runs', session === null || (run !== null && totalTokens(session) === totalTokens(run)) ? null : tokensText(session)],
  ]
}

const unwatchedText = ({ tokens }: SessionView, time: Time): string | null =>
  tokens?.unwatched == null
    ? null
    : `it has burned ${tokensText(tokens.unwatched.tokens)} since ${time(tokens.unwatched.since)}, when it was last watched`
