import { exitCode } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { noWords, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

declare const HOLDFAST_VERSION: string

export const version: Command = {
  name: 'version',
  group: 'maintenance',
  rare: true,
  summary: 'print the version of Holdfast',
  arguments: [],
  options: [],
  more: () => ({
    description: ['Prints the version of this command. With --json it prints version and node, the version of Node.'],
    examples: [
      ['version', 'The version is printed.'],
      ['--version', 'The same as an option.'],
    ],
    exits: { done: 'the version was printed' },
  }),
  answer: (parsed) => {
    noWords(parsed, 'version')
    return tellVersion(parsed)
  },
}

export function tellVersion({ flags }: Parsed): number {
  if (flags.has('json')) printJson({ version: HOLDFAST_VERSION, node: process.version })
  else print([`holdfast ${HOLDFAST_VERSION}`])
  return exitCode.done
}
