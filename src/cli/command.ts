import type { World } from '../app/index.ts'
import type { exitCode } from '../model/index.ts'
import type { Option, Parsed, Thing } from './options.ts'

/** The order in which help, man page and reference show them. */
export const GROUPS = ['start and end', 'see', 'directories', 'together', 'work', 'maintenance'] as const

export type Argument = {
  readonly name: string
  readonly thing: Thing
  readonly about: string
  readonly optional?: true
  readonly many?: true
}

/** Prose is behind a function: a verb that is only run pays nothing for it. */
export type More = {
  /** Two to five sentences. */
  readonly description: readonly string[]
  /** A command line without `holdfast`, and a sentence about it. */
  readonly examples: readonly (readonly [line: string, about: string])[]
  /** Codes with their meaning. Wrong words, an unusable store and a bug have the same meaning everywhere and are added. */
  readonly exits: Exits
  /** Codes that are not ours. */
  readonly otherExits?: string
}
export type Exits = { readonly done: string } & { readonly [kind in keyof typeof exitCode]?: string }

type Takes = {
  readonly name: string
  readonly summary: string
  readonly arguments: readonly Argument[]
  readonly options: readonly Option[]
  /** The first plain word begins a command, whose options are not ours. */
  readonly takesCommand?: true
  /** Synopses behind the verb, where arguments and options do not tell them. */
  readonly forms?: readonly string[]
}

export type Run = (world: World, parsed: Parsed) => Promise<number>
export type Sub = Takes & { readonly run: Run }
export type Command = Takes & {
  readonly group: (typeof GROUPS)[number]
  /** Other words that work, as people know them from docker and git. */
  readonly also?: readonly string[]
  readonly more: () => More
  /** Used a few times in a machine's life: the overview names it in one line with others. */
  readonly rare?: true
  /** For other parts of Holdfast only: no list shows it. */
  readonly hidden?: true
  /** It refuses or shows an error in config.toml itself. */
  readonly handlesConfigTrouble?: true
  /** It starts an agent: it waits longer for a store that others hold. */
  readonly isStart?: true
} & Handler

/** A verb runs in a world, has verbs of its own, or answers from its words and the table alone. */
type Handler = { readonly run: Run } | { readonly subs: readonly Sub[] } | { readonly answer: Answer }
export type Answer = (parsed: Parsed, table: readonly Command[]) => number

export const subsOf = (command: Command): readonly Sub[] => ('subs' in command ? command.subs : [])

/** A verb that other parts of Holdfast call. */
export const internal = (name: string, summary: string, run: Run, words: readonly string[]): Command => ({
  name,
  group: 'maintenance',
  summary,
  arguments: words.map((word) => ({ name: word, thing: 'text', about: 'set by the caller', optional: true })),
  options: [],
  hidden: true,
  handlesConfigTrouble: true,
  more: () => ({ description: ['This verb is internal: other parts of Holdfast call it.'], examples: [], exits: { done: 'done' } }),
  run,
})
