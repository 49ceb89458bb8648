import { exitCode, Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import type { Parsed } from '../options.ts'
import { write } from '../out.ts'
import { texts } from '../texts.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const completion: Command = {
  name: 'completion',
  group: 'maintenance',
  rare: true,
  summary: 'print a completion script for bash, zsh or fish',
  arguments: [{ name: 'SHELL', thing: SHELLS, about: 'bash, zsh or fish' }],
  options: [],
  more: () => ({
    description: [
      'Prints a script that completes verbs, options, session ids, agents and directories.',
      'Session ids are read from the store when you press Tab; nothing is started or changed.',
      'Print it again after an update of Holdfast.',
    ],
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/holdfast', 'bash completes holdfast in new shells.'],
      ['completion zsh > ~/.zfunc/_holdfast', 'zsh completes holdfast in new shells, if ~/.zfunc is in fpath.'],
      ['completion fish > ~/.config/fish/completions/holdfast.fish', 'fish completes holdfast at once.'],
    ],
    exits: { done: 'the script was printed' },
  }),
  answer: ({ words: [shell = '', ...more] }: Parsed, table) => {
    const known = SHELLS.find((one) => one === shell)
    if (known === undefined || more.length > 0) throw new Problem('arguments-wrong', 'completion takes bash, zsh or fish')
    write(1, texts().scripts[known](table))
    return exitCode.done
  },
}
