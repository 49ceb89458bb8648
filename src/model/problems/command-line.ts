import type { ProblemTable } from '../exit-code.ts'

/** Problems of the command line itself. */
export const COMMAND_LINE_PROBLEMS = {
  'verb-missing': { kind: 'badCommand', means: 'No verb was given.' },
  'verb-unknown': { kind: 'badCommand', means: 'Holdfast has no such verb or subcommand.' },
  'option-unknown': { kind: 'badCommand', means: 'The verb has no such option.' },
  'option-missing': { kind: 'badCommand', means: 'The verb needs an option that was not given.' },
  'option-misplaced': { kind: 'badCommand', means: 'The option belongs to another subcommand or to another option.' },
  'options-exclusive': { kind: 'badCommand', means: 'Two of the given options or arguments exclude each other.' },
  'option-value-missing': { kind: 'badCommand', means: 'The option needs a value.' },
  'option-value-unexpected': { kind: 'badCommand', means: 'The option takes no value.' },
  'option-value-invalid': { kind: 'badCommand', means: 'The option does not accept this value.' },
  'option-value-ambiguous': { kind: 'badCommand', means: 'The next word could be the value of the option or the command.' },
  'arguments-wrong': { kind: 'badCommand', means: 'The verb takes other arguments than those that were given.' },
  'command-missing': { kind: 'badCommand', means: 'No command was given to run.' },
  'terminal-missing': { kind: 'badCommand', means: 'The command needs a terminal and has none.' },
  'front-missing': { kind: 'badCommand', means: 'The command must be started by `bin/holdfast`.' },
  'output-unwritable': { kind: 'unavailable', means: 'The answer could not be written to standard output.' },
} as const satisfies ProblemTable

/** Faults of Holdfast itself. */
export const BUG_PROBLEMS = {
  'invariant-broken': { kind: 'bug', means: 'Holdfast met a state that its own rules exclude.' },
  'unexpected-error': { kind: 'bug', means: 'Holdfast met an error that it does not know.' },
} as const satisfies ProblemTable
