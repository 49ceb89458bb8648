import { exitCode, Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { commandNamed } from '../find.ts'
import type { Parsed } from '../options.ts'
import { write } from '../out.ts'
import { texts } from '../texts.ts'

export const help: Command = {
  name: 'help',
  group: 'maintenance',
  summary: 'list all verbs, or explain one',
  arguments: [{ name: 'VERB', thing: 'verb', about: 'the verb to explain', optional: true }],
  options: [],
  more: () => ({
    description: ['Lists every verb in a line. With a verb it prints what VERB --help prints.'],
    examples: [
      ['help', 'All verbs are listed.'],
      ['help run', 'The verb run is explained with its options and examples.'],
    ],
    exits: { done: 'the text was printed', badCommand: 'no such verb' },
  }),
  answer: ({ words: [name, ...more] }: Parsed, table) => {
    // The verb is enough: `help daemon start` explains daemon.
    if (more.length > 1) throw new Problem('arguments-wrong', 'help takes one verb')
    write(1, `${name === undefined ? texts().overviewText(table) : texts().verbText(commandNamed(name, table))}\n`)
    return exitCode.done
  },
}
