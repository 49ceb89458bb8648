import { giveBack, readInbox, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { messageJson, messageText, moreText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, noWords, type Parsed, value } from '../options.ts'
import { jsonOf, leaveUnread, paintFor, say, textOf, tryWrite } from '../out.ts'
import { duration } from '../values.ts'

/** Waiting without a time has no end of its own. */
const FOREVER_MS = Number.POSITIVE_INFINITY

export const inbox: Command = {
  name: 'inbox',
  group: 'together',
  summary: 'read the messages that were sent to your session',
  arguments: [],
  options: [
    flag('wait', 'wait for a message if no message is there'),
    value('timeout', 'DURATION', 'text', 'with --wait: wait no longer than this'),
    flag('peek', 'look at the messages and leave them unread'),
    value('session', 'S', 'live-session', 'with --peek: look into the inbox of another session'),
  ],
  more: () => ({
    description: [
      'Gives each message once, up to 8 KB at a time, and tells how many more wait.',
      'A message that could not be written to standard output counts as unread.',
      'Unread messages are kept for 7 days.',
    ],
    examples: [
      ['inbox', 'New messages are printed and count as read.'],
      ['inbox --wait --timeout 5m', 'The command waits up to five minutes for a message.'],
    ],
    exits: {
      done: 'the messages were printed, or there was none',
      notFound: 'the command is in no session, or no such session',
      held: 'no message came in time, or you were retired',
    },
  }),
  run: inboxVerb,
}

async function inboxVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'inbox')
  const timeMs = duration(parsed, 'timeout')
  const waits = parsed.flags.has('wait')
  if (timeMs !== undefined && !waits)
    throw new Problem('option-misplaced', '--timeout says how long --wait waits', { hint: 'holdfast inbox --wait --timeout 5m' })
  const waitMs = waits ? (timeMs ?? FOREVER_MS) : null
  const received = await readInbox(world, { peek: parsed.flags.has('peek'), waitMs, session: parsed.values.get('session') })
  const json = parsed.flags.has('json')
  const trouble = tryWrite(1, json ? jsonOf(received.messages.map(messageJson)) : textOf(messageText(received, world.clock.now(), paintFor(1))))
  if (trouble !== null) {
    // A message that was not written stays unread.
    if (!parsed.flags.has('peek')) await giveBack(world, received)
    leaveUnread(trouble)
  }
  if (json && received.left > 0) say(moreText(received.left))
  return waits && received.messages.length === 0 ? exitCode.held : exitCode.done
}
