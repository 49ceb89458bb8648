import type { EventKind, HoldfastEvent } from '../model/index.ts'
import { type Page, tilde, WIDE, wrapped } from './page.ts'
import { type Paint, plain } from './paint.ts'
import { age, iso, localTime } from './time.ts'
import { padded, widthOf } from './width.ts'

type Detail = Readonly<Record<string, unknown>>

/** `events`: what happened in words, a line each, the oldest first. The daemon's own are of no session. */
export function eventsText(events: readonly HoldfastEvent[], now: number, paint: Paint, page: Page = WIDE): string[] {
  const times = events.map(({ at }) => localTime(at, now, page))
  const width = Math.max(0, ...times.map(widthOf))
  return events.flatMap((event, index) => {
    const who = event.kind === 'daemon' ? 'daemon' : event.session
    const time = padded(times[index] ?? '', width)
    const [first = '', ...rest] = wrapped(`${time}  ${who} ${tilde(eventWords(event), page)}`, page.columns, width + 4)
    return [`${paint.dim(time)}  ${paint.bold(who)}${first.slice(time.length + 2 + who.length)}`, ...rest]
  })
}

/** Above the newest ones: there are more. */
export const earlierText = (session: string | null, shown: number): string =>
  `earlier ones: holdfast events${session === null ? '' : ` ${plain(session)}`} -n ${shown * MORE_TIMES}`
const MORE_TIMES = 5

function eventWords({ kind, detail }: HoldfastEvent): string {
  const words = WORDS[kind]?.(detail)
  return plain(words ?? [kind, rawWords(detail)].filter(Boolean).join(': '))
}

const WORDS: Readonly<Partial<Record<EventKind, (detail: Detail) => string | null>>> = {
  claimed: ({ pid, dir, argv, found, restored }) => {
    if (restored === true) return `was found again in its run directory: ${said(argv)} in ${said(dir)}`
    return found === true ? `was found at work inside (pid ${said(pid)}): ${said(argv)} in ${said(dir)}` : `claimed: ${said(argv)} in ${said(dir)}`
  },
  running: () => 'running',
  asked: ({ reason, by }) => `was asked to end: ${said(reason)}${String(reason).includes(String(by)) ? '' : ` (by ${said(by)})`}`,
  exited: ({ exit }) => `its agent ended: ${exitWords(exit)}`,
  survivors: ({ survivors }) => `could not be ended whole: ${listOf(survivors, ({ name, pid }) => `${said(name)} (pid ${said(pid)})`)}`,
  ended: ({ state, reason }) => `${said(state)}${isNothing(reason) ? '' : `: ${said(reason)}`}`,
  adopted: ({ session, from }) => `is a task of ${said(session)} now${isNothing(from) ? '' : ', and was one of a run before it'}`,
  shared: ({ dir, with: other, theirs }) => `shared ${said(dir)} with ${said(other)}${theirs === dir ? '' : ` in ${said(theirs)}`}`,
  unlocked: ({ dir, by, reason }) => `its lock on ${said(dir)} was taken away by ${said(by)}: ${said(reason)}`,
  bound: ({ harness, id, before }) => `is ${said(harness)} conversation ${said(id)}${isNothing(before) ? '' : `, and was ${said(before)}`}`,
  moved: ({ harness, id, to }) => `its ${said(harness)} conversation ${said(id)} goes on as session ${said(to)}`,
  conflict: ({ id, with: other }) => `shares conversation ${said(id)} with session ${said(other)}: only one may have it`,
  told: ({ harness, event, reason }) => `${said(harness)} says: ${said(event)}${isNothing(reason) ? '' : ` (${said(reason)})`}`,
  rebound: ({ from, to }) => `is called ${said(to)} now, and was ${said(from)}`,
  said: ({ kind, text }) => `its ${said(kind)}: ${said(text)}`,
  messaged: ({ from }) => `has a message from ${said(from)}`,
  activity: ({ state, before, lasted }) =>
    `${({ busy: 'is busy', waiting: 'waits for an answer', idle: 'is idle' } as Record<string, string>)[said(state)] ?? said(state)}${
      typeof lasted === 'number' ? `, after ${age(lasted)} ${said(before)}` : ''
    }`,
  refused: ({ wanted, dir, ...asker }) =>
    `refused a caller who wanted its ${said(wanted)}${isNothing(dir) ? '' : ` in ${said(dir)}`}${askerWords(asker)}`,
  daemon: ({ what, why, pid, ...more }) =>
    [`${said(what)}${isNothing(pid) ? '' : ` (pid ${said(pid)})`}`, isNothing(why) ? '' : said(why), rawWords(more)].filter(Boolean).join(': '),
}

const askerWords = (asker: Detail): string => (rawWords(asker) === '' ? '' : ` (${rawWords(asker)})`)

const exitWords = (exit: unknown): string => {
  const { code, signal } = (typeof exit === 'object' ? (exit ?? {}) : {}) as { code?: unknown; signal?: unknown }
  return isNothing(signal) ? `exit code ${said(code)}` : said(signal)
}

const listOf = (value: unknown, word: (one: Detail) => string): string =>
  Array.isArray(value) ? (value as Detail[]).map(word).join(', ') : said(value)

const isNothing = (value: unknown): boolean => value === null || value === undefined || value === ''
const said = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

const rawWords = (detail: Detail): string =>
  Object.entries(detail)
    .filter(([, value]) => !isNothing(value))
    .map(([name, value]) => `${name} ${said(value)}`)
    .join(', ')

export const eventJson = ({ at, ...event }: HoldfastEvent): Record<string, unknown> => ({ ...event, at: iso(at) })
