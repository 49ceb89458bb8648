import { completionsFor } from '../../app/index.ts'
import { exitCode } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { print } from '../out.ts'

/** For completion scripts. An unknown kind and an unreadable home give nothing: a press of Tab must not fail. (The scripts drop messages about wrong options.) */
export const complete: Command = {
  name: '_complete',
  group: 'maintenance',
  summary: 'list candidates for a shell: an id and a tab, then its description',
  arguments: [{ name: 'KIND', thing: ['session', 'live-session', 'agent', 'hooked-agent'], about: 'the kind of thing' }],
  options: [],
  hidden: true,
  more: () => ({
    description: ['This verb is internal: completion scripts call it.'],
    examples: [],
    exits: { done: 'the candidates were printed, if there are any' },
  }),
  answer: ({ words: [kind = ''], values }) => {
    print(completionsFor(kind, values.get('home')).map(({ word, about }) => (about === '' ? word : `${word}\t${about}`)))
    return exitCode.done
  },
}
