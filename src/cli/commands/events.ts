import { seeEvents, type World } from '../../app/index.ts'
import { Problem } from '../../model/index.ts'
import { eventJson, eventText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, type Parsed } from '../options.ts'
import { paintFor, print, printJson, printJsonLine } from '../out.ts'

export const events: Command = {
  name: 'events',
  group: 'see',
  summary: 'show what happened, to one session or to all',
  arguments: [{ name: 'S', thing: 'session', about: 'the session; without it, all of them', optional: true }],
  options: [flag('follow', 'go on with new events; Ctrl-C ends it', 'f')],
  more: () => ({
    description: [
      'Shows starts, ends, takeovers, refusals, activity and acts of the daemon, oldest first.',
      'With --follow and --json each event is one object on a line of its own.',
    ],
    examples: [
      ['events api', 'Everything that happened to session api is shown.'],
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
  const events = await seeEvents(world, reference, 0)
  if (!parsed.flags.has('follow')) {
    if (json) printJson(events.map(eventJson))
    else print(events.map((event) => eventText(event, paintFor(1))))
    return 0
  }
  // Followed, each event is a line of its own.
  for (let batch = events, last = 0; ; batch = await seeEvents(world, reference, last)) {
    last = batch.at(-1)?.seq ?? last
    if (json) for (const event of batch) printJsonLine(eventJson(event))
    else print(batch.map((event) => eventText(event, paintFor(1))))
    await world.clock.sleep(world.policy.followMs)
  }
}
