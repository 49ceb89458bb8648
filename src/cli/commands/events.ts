import { seeEvents, type World } from '../../app/index.ts'
import { type HoldfastEvent, Problem } from '../../model/index.ts'
import { earlierText, eventJson, eventsText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, type Parsed, value } from '../options.ts'
import { pageFor, paintFor, print, printJson, printJsonLine } from '../out.ts'
import { duration, lineCount } from '../values.ts'

/** How many events a person is shown who asks for no number. */
const EVENTS_SHOWN = 20

export const events: Command = {
  name: 'events',
  group: 'see',
  summary: 'show what happened, to one session or to all',
  arguments: [{ name: 'S', thing: 'session', about: 'the session; without it, all of them', optional: true }],
  options: [
    flag('follow', 'go on with new events; Ctrl-C ends it', 'f'),
    value('lines', 'N', 'text', 'show the newest N events instead of 20', 'n'),
    value('since', 'DURATION', 'text', 'show the events of the last 30s, 5m, 1h30m'),
  ],
  more: () => ({
    description: [
      'Shows the newest 20 starts, ends, takeovers, refusals, activities and acts of the daemon in words, the oldest first.',
      'With --json all that are kept, at most 1,000, come with every detail.',
      'With --follow and --json each event is one object on a line of its own.',
    ],
    examples: [
      ['events api', 'The newest 20 events of session api are shown.'],
      ['events --since 1h', 'Everything that happened in the last hour is shown.'],
      ['events --follow --json', 'A program reads events of all sessions as they happen.'],
    ],
    exits: { done: 'the events were printed', notFound: 'no such session' },
  }),
  run: eventsVerb,
}

async function eventsVerb(world: World, parsed: Parsed): Promise<number> {
  if (parsed.words.length > 1) throw new Problem('arguments-wrong', 'events takes one session, or none for all')
  const reference = parsed.words[0] ?? null
  const json = parsed.flags.has('json')
  const { events, isCut, most, newestSeq } = await newest(world, reference, parsed)
  const tell = (batch: readonly HoldfastEvent[]): void => print(eventsText(batch, world.clock.now(), paintFor(1), pageFor(1)))
  if (!json && isCut) print([paintFor(1).dim(earlierText(reference, most))])
  if (!parsed.flags.has('follow')) {
    if (json) printJson(events.map(eventJson))
    else if (events.length === 0) print([paintFor(1).dim('no events')])
    else tell(events)
    return 0
  }
  // Followed, each event is a line of its own.
  for (let batch = events, last = newestSeq; ; batch = await seeEvents(world, reference, last)) {
    last = batch.at(-1)?.seq ?? last
    if (json) for (const event of batch) printJsonLine(eventJson(event))
    else tell(batch)
    await world.clock.sleep(world.policy.followMs)
  }
}

/** `isCut`: there are earlier ones. `newestSeq`: that of the newest event of all, asked for or not. */
type Newest = { readonly events: HoldfastEvent[]; readonly isCut: boolean; readonly most: number; readonly newestSeq: number }

/** Those that were asked for: a person who says nothing gets the newest, a program as many as are shown at all. */
async function newest(world: World, reference: string | null, parsed: Parsed): Promise<Newest> {
  const since = duration(parsed, 'since')
  const isBounded = since === undefined && !parsed.flags.has('json')
  const most = lineCount(parsed) ?? (isBounded ? EVENTS_SHOWN : world.policy.eventsShown)
  const from = since === undefined ? Number.NEGATIVE_INFINITY : world.clock.now() - since
  const all = await seeEvents(world, reference, 0, most + 1)
  const seen = all.filter(({ at }) => at >= from)
  return { events: seen.slice(-most), isCut: seen.length > most, most, newestSeq: all.at(-1)?.seq ?? 0 }
}
