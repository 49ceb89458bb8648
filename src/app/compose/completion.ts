import { join } from 'node:path'
import { HARNESSES, HOOKS, idleWords } from '../../harness/index.ts'
import { isSessionId } from '../../model/index.ts'
import { sessionNames } from '../../record/index.ts'
import { plain } from '../../show/index.ts'
import { openConfig } from './config.ts'
import { homePath } from './home.ts'

/** Agents that Holdfast knows without any configuration, and those of them that have hooks. `generic` stands for any command. */
export const knownAgents = (): string[] => HARNESSES.map(({ name }) => name).filter((name) => name !== 'generic')
export const hookedAgents = (): string[] => Object.keys(HOOKS)

/** Agents whose command a shell may put behind Holdfast. `idle`: with these first words they are left alone. */
export type ShellAgent = { readonly name: string; readonly command: string; readonly idle: readonly string[] }

/** Other programs of that name are in daily use (VS Code). */
const AMBIGUOUS = ['code']

export const shellAgents = (): ShellAgent[] =>
  HARNESSES.flatMap((harness) => {
    const [command] = harness.commands
    return command === undefined || AMBIGUOUS.includes(harness.name) ? [] : [{ name: harness.name, command, idle: idleWords(harness) }]
  })

/** A word that a shell offers, with the text beside it. */
export type Completion = { readonly word: string; readonly about: string }

/** Candidates for a shell. Nothing is made, changed or waited for: a home that is not there has no sessions. */
export function completionsFor(kind: string, option: string | undefined): Completion[] {
  const home = homePath(option, process.env)
  if (kind === 'session' || kind === 'live-session')
    return (
      sessionNames(join(home, 'holdfast.db'), kind === 'session' ? 'all' : 'live')
        // A shell puts the word on the command line: whoever wrote into the store must not write there.
        .filter(({ id }) => isSessionId(id))
        .map(({ id, name, state, dir }) => ({
          word: id,
          about: plain([...(name === null || name === id ? [] : [name]), state, dir].join(' · ')),
        }))
    )
  const own = kind === 'agent' ? openConfig(home).ownHarnesses() : []
  const words = kind === 'agent' ? [...knownAgents(), ...own.map(({ name }) => name)] : kind === 'hooked-agent' ? hookedAgents() : []
  return words.map((word) => ({ word, about: '' }))
}
