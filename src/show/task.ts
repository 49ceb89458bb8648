import type { Containment, UnwatchedTime, Usage } from '../model/index.ts'
import { isLive } from '../model/index.ts'
import { type Paint, plain } from './paint.ts'
import type { NestedView, SessionView, TaskView } from './session-view.ts'
import { type Cell, shorten, table } from './table.ts'
import { age } from './time.ts'
import { tokensText } from './usage.ts'

const COMMAND_WIDTH = 48

/** What a run has burned, for people. */
export const usageText = (usage: Usage | null): string | null =>
  usage === null ? null : [cpuText(usage), ...(usage.tokens == null ? [] : [tokensText(usage.tokens)])].join(', ')

export const cpuText = (usage: Usage | null): string | null =>
  usage === null ? null : `${usage.whole ? '' : 'at least '}${(usage.cpuMs / 1000).toFixed(usage.cpuMs < 10_000 ? 2 : 0)} s of CPU`

/** One line about a run that was started inside another. */
export function taskText({ run, usage, nested }: TaskView, now: number): string {
  const since = isLive(run) ? `for ${age(now - run.startedAt)}` : `after ${age(run.endedAt - run.startedAt)}: ${plain(run.reason)}`
  const burned = usageText(usage)
  const inside = nested === undefined ? '' : `, ${starterWords(nested, now)}`
  return `${run.session} ${run.state} ${since}${burned === null ? '' : `, ${burned}`}${run.task === 'adopt' ? ', to be adopted at a takeover' : ''}${inside}`
}

/** Who started an agent inside a session, and whether it spends while nobody watches. */
export const starterWords = ({ startedBy, unwatched }: NestedView, now: number): string =>
  `${startedBy === null ? 'started inside' : `started by ${plain(startedBy.name)} (pid ${startedBy.pid})`}${unwatched === undefined ? '' : `, spends unwatched: ${unwatchedWords(unwatched, now)}`}`

/** Why nobody watches, and for how long. */
export const unwatchedWords = ({ why, since }: UnwatchedTime, now: number): string => `${UNWATCHED[why]} for ${age(now - since)}`

const UNWATCHED = {
  'keeper-gone': 'its keeper has been gone',
  'agent-gone': 'the agent of its session has been gone',
  over: 'its session has been over',
  idle: 'its session has been idle',
} as const

export function tasksText(tasks: readonly (TaskView & { readonly parent: string })[], now: number, paint: Paint): string[] {
  if (tasks.length === 0) return [paint.dim('no tasks')]
  const head: Cell[] = ['TASK', 'OF', 'STATE', 'AGE', 'BURNED', 'COMMAND'].map((text) => ({ text, paint: paint.dim }))
  return table([
    head,
    ...tasks.map(({ run, usage, parent }): Cell[] => [
      { text: run.session, paint: paint.bold },
      { text: parent },
      { text: run.state },
      { text: age(now - (isLive(run) ? run.startedAt : run.endedAt)) },
      { text: usageText(usage) ?? '-' },
      { text: shorten(plain(run.argv.join(' ')), COMMAND_WIDTH) },
    ]),
  ])
}

const WITHOUT = 'marker, cookie, ancestry, sessions and journal'

export const levelText = (containment: Containment): string => {
  if (containment.level === 'cgroup') return `cgroup ${containment.path}`
  return containment.level === 'scope' ? `systemd scope ${containment.unit}` : `${WITHOUT} (no cgroup: ${containment.why})`
}

export const containmentText = ({ run: { containment, marker }, entered }: SessionView): string =>
  `${entered === false && containment.level !== 'none' ? `${WITHOUT} (its agent did not get into its ${levelText(containment)})` : levelText(containment)}${marker === null ? '; it has no marker' : ''}`
