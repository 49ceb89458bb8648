import type { Intent, News, Peer, Retirement, WaitingMessages } from '../model/index.ts'
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
  return fits ?? oneLine(compose(news, 0, false), LINE)
}

function compose({ first, joined, left, messages, retired, notices }: News, most: number, inWords: boolean): string {
  const others = [
    ...(joined.length === 0 ? [] : [first ? `at work here too: ${named(joined, most, inWords)}` : `${named(joined, most, inWords)} joined you here`]),
    ...(left.length === 0 ? [] : [`${named(left, most, false)} left`]),
  ]
  const sentences = [
    ...(retired === null ? [] : [retiredText(retired)]),
    // They are our own words, in which those of others stand in quotes already.
    ...notices.map((notice) => oneLine(notice, LINE)),
    ...(messages === null ? [] : [messagesText(messages)]),
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
  const about = [...(harness === null ? [] : [name(harness)]), ...(plan === null || !inWords ? [] : [`says: ${quoted(plan, WORDS)}`])]
  return `${name(session)}${about.length === 0 ? '' : ` (${about.join(', ')})`}`
}

/** What `notice` and `inbox` are about. */
export const messagesText = ({ count, earlier, from }: WaitingMessages): string => {
  const old = earlier === 0 ? '' : `, ${count === 1 ? '' : earlier === count ? 'all ' : `${earlier} of them `}sent to the run before this one`
  const waits = count === 1 ? `1 message from ${name(from)} waits${old}` : `${count} messages wait${old}, the newest from ${name(from)}`
  return `${waits}: holdfast inbox, or the MCP tool inbox`
}

const ENDS = { stopped: 'was stopped', superseded: 'was taken over by somebody else' } as const

function retiredText({ session, intent }: Retirement): string {
  const what = intent === null ? 'was retired' : intent.by === 'holdfast' ? 'was fenced off' : ENDS[intent.end]
  return `session ${name(session)}, which this agent works for, ${what}${because(intent)}: its tool calls are denied. Stop working and tell the user`
}

/** Holdfast's own reasons are sentences of ours; any other is what somebody says. */
const because = (intent: Intent | null): string =>
  intent === null ? '' : ` (by ${tame(intent.by, NAME)}: ${intent.by === 'holdfast' ? tame(intent.reason, REASON) : quoted(intent.reason, REASON)})`

/**
 * Words from elsewhere, between quotes that they cannot close: the model that reads the line would take what follows for ours. So nothing
 * in them is, or looks like, a double quote, or takes the meaning from the one that ends them; nor do they open or close a tag.
 */
const quoted = (text: string, most: number): string => `"${tame(text, most)}"`

/** What somebody is called, which stands without quotes and before brackets. */
const name = (text: string): string => tame(text, NAME).replaceAll(/[()[\]{}]/g, '·')

const QUOTES = /["\p{Pi}\p{Pf}\u02BA\u02DD\u02EE\u05F4\u201E\u2033\u2036\u275D\u275E\u301D-\u301F\u2E42\uFF02]/gu
const UNSEEN = /[\\<>\uFE68\uFF3C\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu

const tame = (text: string, most: number): string => oneLine(text.replaceAll(QUOTES, "'").replaceAll(UNSEEN, '·'), most)

/** On one line, not too much, and no half of a character. */
function oneLine(text: string, most: number): string {
  const line = plain(text.trim().replaceAll(/\s+/g, ' '))
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
