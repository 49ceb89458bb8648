import { rename as renameSession, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import type { Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const rename: Command = {
  name: 'rename',
  also: ['mv'],
  group: 'maintenance',
  summary: 'give a session another name',
  forms: ['S NAME'],
  arguments: [
    { name: 'S', thing: 'session', about: 'the session' },
    { name: 'NAME', thing: 'text', about: 'its new name, which no other session has or had' },
  ],
  options: [],
  more: () => ({
    description: [
      'The session is called NAME from now on, with its runs, events and messages. Tasks that are named after it move along.',
      'The old name is free again. A live agent knows itself by the old name, so that goes on to find it.',
      'A name that another session has is refused: holdfast rm forgets a session that is over.',
    ],
    examples: [
      ['rename api api-old', 'Session api is called api-old, and a new session can be called api.'],
      ['rename 0b9e2f7c web', 'The session with that id is called web.'],
    ],
    exits: {
      done: 'the session has that name',
      badCommand: 'wrong words, or another session has that name',
      notFound: 'no such session',
      held: 'others change the session at this moment',
    },
  }),
  run: renameVerb,
}

async function renameVerb(world: World, { words, flags }: Parsed): Promise<number> {
  const [reference, name, ...more] = words
  if (reference === undefined || name === undefined || more.length > 0)
    throw new Problem('arguments-wrong', 'rename takes a session and its new name', { hint: 'holdfast rename S NAME' })
  const renamed = await renameSession(world, reference, name)
  if (flags.has('json')) printJson(renamed)
  else print([`session ${renamed.from} is ${renamed.session} from now on${renamed.oldStays ? '; it is live, so its old name finds it, too' : ''}`])
  return exitCode.done
}
