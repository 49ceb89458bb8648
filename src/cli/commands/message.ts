import { sendMessage, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { sentText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { allWords, flag, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const message: Command = {
  name: 'message',
  group: 'together',
  summary: 'send a text to a live session, or to all of them',
  forms: ['S TEXT', '--all TEXT', '--here TEXT'],
  arguments: [
    { name: 'S', thing: 'live-session', about: 'the session that the message is for' },
    { name: 'TEXT', thing: 'text', about: 'one text of 8 KB at most' },
  ],
  options: [
    flag('all', 'send it to every session that lives now', 'a'),
    flag('here', 'send it to every live session in the same repository or directory tree'),
  ],
  more: () => ({
    description: [
      'Sends a text to a session, which reads it with inbox; with hooks its agent learns that messages wait.',
      'Holdfast itself stamps the sender. An agent that was retired can neither send nor read.',
      'A text that begins with a dash comes after --.',
    ],
    examples: [
      ['message web "the API is on port 8080 now"', 'Session web gets the text.'],
      ['message --here "I rebase main in a minute"', 'Every live session in this repository gets the text.'],
    ],
    exits: {
      done: 'the message is in the inbox',
      notFound: 'the session is unknown or over',
      held: 'too many unread messages (100) wait for the session, or you were retired',
    },
  }),
  run: messageVerb,
}

async function messageVerb(world: World, parsed: Parsed): Promise<number> {
  const wide = (['all', 'here'] as const).filter((flag) => parsed.flags.has(flag))
  const said = allWords(parsed)
  const [first, ...rest] = said
  const [session, words] = wide.length === 0 ? [first, rest] : [undefined, said]
  if (wide.length > 1 || (wide.length === 0 && session === undefined) || words.length !== 1)
    throw new Problem('arguments-wrong', 'message takes whom it is for, and one text', {
      hint: 'holdfast message S "TEXT", or: holdfast message --all|--here "TEXT"',
    })
  const sent = await sendMessage(world, { to: wide[0] ?? { session: session ?? '' }, text: words[0] ?? '' })
  if (parsed.flags.has('json')) printJson(sent)
  else print(sentText(sent))
  return exitCode.done
}
