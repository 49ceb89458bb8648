import { type Argument, type Command, subsOf } from '../command.ts'
import { GLOBAL, type Option, type Thing } from '../options.ts'
import { shownOptions, visible } from './shape.ts'

/** A verb, or a verb with a verb of its own (`daemon start`), as completion scripts know it. */
export type Path = {
  readonly path: string
  readonly about: string
  readonly options: readonly Option[]
  readonly arguments: readonly Argument[]
  readonly takesCommand: boolean
  readonly subs: readonly { readonly name: string; readonly about: string }[]
}

export function pathsOf(table: readonly Command[]): Path[] {
  return visible(table).flatMap((command) => {
    const subs = subsOf(command)
    const own: Path = {
      path: command.name,
      about: command.summary,
      options: [...shownOptions(command), ...GLOBAL],
      arguments: command.arguments,
      takesCommand: command.takesCommand === true && subs.length === 0,
      subs: subs.map(({ name, summary }) => ({ name, about: summary })),
    }
    const below = subs.map((sub) => ({
      path: `${command.name} ${sub.name}`,
      about: sub.summary,
      options: [...shownOptions(sub), ...GLOBAL],
      arguments: sub.arguments,
      takesCommand: sub.takesCommand === true,
      subs: [],
    }))
    return [own, ...below]
  })
}

/** `--until` and, where there is one, `-u`. */
export const spellings = ({ name, short }: Option): string[] => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]

/** Words that scripts tell apart: a kind, or `words` with all words that are allowed. */
export const kindOf = (thing: Thing): string => (typeof thing === 'string' ? thing : `words ${thing.join(' ')}`)

/** In single quotes, as bash and zsh read them. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
