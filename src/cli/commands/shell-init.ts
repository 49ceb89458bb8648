import { shellAgents } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import type { Parsed } from '../options.ts'
import { write } from '../out.ts'
import { texts } from '../texts.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const shellInit: Command = {
  name: 'shell-init',
  group: 'maintenance',
  summary: 'print shell functions: claude means holdfast run claude',
  arguments: [{ name: 'SHELL', thing: SHELLS, about: 'bash, zsh or fish' }],
  options: [],
  more: () => ({
    description: [
      'Prints a function for each known agent on PATH, for the start-up file of a shell.',
      'An agent that is started by hand on a terminal is then a session: claude means holdfast run claude.',
      'Scripts, pipes, the inside of a session, and one-shot words such as mcp or --version get the agent itself.',
      'HOLDFAST_BYPASS=1 claude and command claude go around it.',
    ],
    examples: [
      ['shell-init bash', 'The functions are shown; in ~/.bashrc: eval "$(holdfast shell-init bash)".'],
      ['shell-init fish', 'The functions are shown; in config.fish: holdfast shell-init fish | source.'],
    ],
    exits: { done: 'the functions were printed' },
  }),
  answer: ({ words: [shell = '', ...more] }: Parsed) => {
    const known = SHELLS.find((one) => one === shell)
    if (known === undefined || more.length > 0) throw new Problem('arguments-wrong', 'shell-init takes bash, zsh or fish')
    write(1, texts().shellInits[known](shellAgents()))
    return exitCode.done
  },
}
