import { readAll, send as sendText, type World } from '../../app/index.ts'
import { exitCode, Problem, textOf } from '../../model/index.ts'
import { sentIntoText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const send: Command = {
  name: 'send',
  group: 'start and end',
  summary: "type a text into a session's pane, then Enter, and see it taken",
  forms: ['[--force] S TEXT', '[--force] S -'],
  arguments: [
    { name: 'S', thing: 'live-session', about: 'a session that run --tmux started' },
    { name: 'TEXT', thing: 'text', about: 'one text of 64 KB at most; - reads it from stdin' },
  ],
  options: [flag('force', 'type it although the agent waits for an answer that the text would give')],
  more: () => ({
    description: [
      'Types one block into the pane, as a person pastes it, and presses Enter.',
      'The answer tells whether the agent took it: yes (its hook reported the prompt), typed (the screen showed it), unknown or no.',
      'A text with an escape sequence or another control character is refused, and nothing of it is typed.',
      'A text that begins with a dash comes after --.',
    ],
    examples: [
      ['send web "go on"', 'The agent in the pane of web gets the prompt.'],
      ['send web - < review.md', 'The text comes from a file.'],
    ],
    exits: {
      done: 'the text was taken, or was typed and stood on the screen',
      badCommand: 'wrong words, or a text that cannot be typed',
      notFound: 'no such session, or it is not running',
      held: 'the text was not taken; the answer says why',
      unproven: 'nothing shows whether the text was taken',
    },
  }),
  run: sendVerb,
}

async function sendVerb(world: World, parsed: Parsed): Promise<number> {
  const [session, said, ...more] = [...parsed.words, ...(parsed.command ?? [])]
  if (session === undefined || said === undefined || more.length > 0)
    throw new Problem('arguments-wrong', 'send takes a session and one text', {
      hint: 'holdfast send S "TEXT", or the text on stdin: holdfast send S -',
    })
  const sent = await sendText(world, session, said === '-' && !parsed.literal ? fromStdin(world) : said, { force: parsed.flags.has('force') })
  if (parsed.flags.has('json')) printJson(sent)
  else print([sentIntoText(sent)])
  return sent.taken === 'no' ? exitCode.held : sent.taken === 'unknown' ? exitCode.unproven : exitCode.done
}

function fromStdin({ policy }: World): string {
  const bytes = readAll(0, policy.sendBytes)
  if (bytes === null) throw new Problem('text-too-long', `the text on stdin is longer than ${policy.sendBytes} bytes`)
  return textOf(bytes)
}
