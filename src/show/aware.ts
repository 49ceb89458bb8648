import type { Intent, News, Peer, Retirement } from '../model/index.ts'
import { plain } from './paint.ts'

/** With the name of who speaks before it, no more than 300. */
const LINE = 290
const NAME = 40
const WORDS = 60
const REASON = 120
const NAMED = 8

/** What is new, in one line of so many characters at most: what matters most first, and as many names as there is room for. */
export function newsText(news: News): string {
  const shorter = Array.from({ length: NAMED + 1 }, (_, less) => compose(news, NAMED - less, false))
  const fits = [compose(news, NAMED, true), ...shorter].find((line) => line.length <= LINE)
  return fits ?? `${compose(news, 0, false).slice(0, LINE - 1)}…`
}

function compose({ first, joined, left, messages, retired, notices }: News, most: number, inWords: boolean): string {
  const others = [
    ...(joined.length === 0 ? [] : [first ? `at work here too: ${named(joined, most, inWords)}` : `${named(joined, most, inWords)} joined you here`]),
    ...(left.length === 0 ? [] : [`${named(left, most, false)} left`]),
  ]
  const sentences = [
    ...(retired === null ? [] : [retiredText(retired)]),
    ...notices.map((notice) => oneLine(notice, LINE)),
    ...(messages === null ? [] : [messagesText(messages.count, messages.from)]),
    ...(others.length === 0 ? [] : [`${others.join('; ')} (holdfast siblings --here)`]),
  ]
  return sentences.join('. ')
}

function named(peers: readonly Peer[], most: number, inWords: boolean): string {
  const shown = peers.slice(0, most).map((peer) => peerText(peer, inWords))
  const more = peers.length - shown.length
  if (shown.length === 0) return `${more} ${more === 1 ? 'session' : 'sessions'}`
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`
}

function peerText({ session, harness, plan }: Peer, inWords: boolean): string {
  const about = [...(harness === null ? [] : [oneLine(harness, NAME)]), ...(plan === null || !inWords ? [] : [`says: "${oneLine(plan, WORDS)}"`])]
  return `${oneLine(session, NAME)}${about.length === 0 ? '' : ` (${about.join(', ')})`}`
}

/** What `notice` and `inbox` are about. */
export const messagesText = (count: number, from: string): string =>
  `${count === 1 ? `1 message from ${oneLine(from, NAME)} waits` : `${count} messages wait, the newest from ${oneLine(from, NAME)}`}: holdfast inbox, or the MCP tool inbox`

const ENDS = { stopped: 'was stopped', superseded: 'was taken over by somebody else' } as const

function retiredText({ session, intent }: Retirement): string {
  const what = intent === null ? 'was retired' : intent.by === 'holdfast' ? 'was fenced off' : ENDS[intent.end]
  return `session ${oneLine(session, NAME)}, which this agent works for, ${what}${because(intent)}: its tool calls are denied. Stop working and tell the user`
}

const because = (intent: Intent | null): string => (intent === null ? '' : ` (by ${oneLine(intent.by, NAME)}: ${oneLine(intent.reason, REASON)})`)

/** Words from elsewhere: on one line, and not too many. */
function oneLine(text: string, most: number): string {
  const line = plain(text.trim().replaceAll(/\s+/g, ' '))
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}
