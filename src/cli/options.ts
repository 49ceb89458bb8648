import { nearest, Problem } from '../model/index.ts'

/** The kind of thing that a word names: shells offer candidates by it. A list holds every word that is allowed. */
export type Thing =
  | 'session'
  | 'live-session'
  | 'directory'
  | 'file'
  | 'agent'
  | 'hooked-agent'
  | 'verb'
  | 'command'
  | 'pid'
  | 'text'
  | readonly string[]

/** `hidden`: for other parts of Holdfast only. */
type Named = { readonly name: string; readonly about: string; readonly short?: string; readonly hidden?: true }
/** `flag` takes nothing, `value` takes the next word (or `--name=value`), `maybe` takes one if it is plain that it is not the command. */
export type Option = Named & ({ readonly kind: 'flag' } | Valued)
/** `many`: each value counts, and not only the last. */
type Valued = { readonly kind: 'value' | 'maybe'; readonly value: string; readonly thing: Thing; readonly many?: true }

export const flag = (name: string, about: string, short?: string): Option => ({
  kind: 'flag',
  name,
  about,
  ...(short === undefined ? {} : { short }),
})
export const value = (name: string, word: string, thing: Thing, about: string, short?: string): Named & Valued => ({
  kind: 'value',
  name,
  value: word,
  thing,
  about,
  ...(short === undefined ? {} : { short }),
})

/** Every verb takes these, and they may also stand before the verb. */
export const GLOBAL: readonly Option[] = [
  flag('json', 'print one JSON object or array for programs'),
  value('home', 'DIR', 'directory', 'use this folder instead of HOLDFAST_HOME'),
  flag('help', 'explain the verb', 'h'),
]

export type Parsed = {
  readonly flags: ReadonlySet<string>
  readonly values: ReadonlyMap<string, string>
  /** The values of options that may come more than once, in their order. */
  readonly lists: ReadonlyMap<string, readonly string[]>
  readonly words: readonly string[]
  /** The words behind `--`, or from the first word where a command begins; null if neither came. */
  readonly command: readonly string[] | null
  /** The command followed `--`: it is taken as it stands, and not as the name of an agent. */
  readonly literal: boolean
}

export type Spec = {
  readonly options: readonly Option[]
  /** The first plain word begins a command, so its options are not ours. */
  readonly takesCommand?: boolean
  /** The command that lists these options. */
  readonly help: string
  /** Whose words these are; left out: they stand before the verb. */
  readonly verb?: string
  /** The verbs that take an option of this name. */
  readonly takers?: (name: string) => readonly string[]
}

/** Unknown options are errors. An option that comes twice counts as it came last, unless it is one of `many`. */
export function parse(args: readonly string[], spec: Spec): Parsed {
  const { options, takesCommand = false } = spec
  const known = [...GLOBAL, ...options]
  const flags = new Set<string>()
  const values = new Map<string, string>()
  const lists = new Map<string, string[]>()
  const words: string[] = []
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? ''
    if (word === '--') return { flags, values, lists, words, command: args.slice(index + 1), literal: true }
    // A word with a blank in it is a text.
    if (!word.startsWith('-') || word === '-' || /^-[^=]*\s/.test(word)) {
      if (takesCommand) return { flags, values, lists, words, command: args.slice(index), literal: false }
      words.push(word)
      continue
    }
    const [option, inline] = optionIn(word, known)
    if (option === undefined) throw unknownOption(word, known, spec)
    const { name, kind } = option
    if (kind === 'flag') {
      if (inline !== undefined) throw new Problem('option-value-unexpected', `--${name} takes no value`)
      flags.add(name)
      continue
    }
    if (kind === 'maybe' && inline === undefined) {
      const own = ownWord(name, args.slice(index + 1), known)
      if (own !== null) index++
      values.set(name, own ?? '')
      continue
    }
    const given = inline ?? args[++index]
    if (given === undefined) throw new Problem('option-value-missing', `--${name} needs a value`)
    values.set(name, given)
    if (kind === 'value' && option.many === true) lists.set(name, [...(lists.get(name) ?? []), given])
  }
  return { flags, values, lists, words, command: null, literal: false }
}

/** An option of other verbs is called so; for another one, the nearest is named. */
function unknownOption(word: string, known: readonly Option[], { help, verb, takers }: Spec): Problem {
  const said = word.split('=', 1)[0]?.slice(0, 100) ?? ''
  const lists = `${help} lists the options; behind -- a dash is allowed`
  const others = said.startsWith('--') ? (takers?.(said.slice(2)) ?? []) : []
  if (others.length > 0) {
    const whose = `${others.slice(0, TAKERS_NAMED).join(', ')}${others.length > TAKERS_NAMED ? ' and others take' : others.length > 1 ? ' take' : ' takes'} it`
    return verb === undefined
      ? new Problem('option-unknown', `${said} stands before the verb`, { hint: `${whose}: say it after the verb` })
      : new Problem('option-unknown', `${verb} takes no ${said}`, { hint: `${whose}; ${lists}` })
  }
  const near = said.startsWith('--')
    ? nearest(
        said.slice(2),
        known.flatMap(({ name, hidden }) => (hidden === true ? [] : [name])),
      )
    : null
  return new Problem('option-unknown', `unknown option ${word.slice(0, 100)}`, { hint: near === null ? lists : `did you mean --${near}? ${lists}` })
}
const TAKERS_NAMED = 3

/** The next word is the option's own if `--` or another option of ours follows it, and no option's if it is the last, or none. */
function ownWord(name: string, [next = '', after]: readonly string[], known: readonly Option[]): string | null {
  if (next === '' || next.startsWith('-') || after === undefined) return null
  if (after === '--' || (after.startsWith('-') && optionIn(after, known)[0] !== undefined)) return next
  throw new Problem('option-value-ambiguous', `is ${JSON.stringify(next)} what --${name} takes, or does the command begin there?`, {
    hint: `say --${name}=${next}, or put -- before the command`,
  })
}

function optionIn(word: string, known: readonly Option[]): [Option | undefined, string | undefined] {
  if (!word.startsWith('--')) return [known.find(({ short }) => short === word.slice(1)), undefined]
  const equals = word.indexOf('=')
  const name = equals < 0 ? word.slice(2) : word.slice(2, equals)
  return [known.find((option) => option.name === name), equals < 0 ? undefined : word.slice(equals + 1)]
}

export function oneWord(parsed: Parsed, verb: string): string {
  const [reference, ...more] = parsed.words
  if (reference === undefined || more.length > 0)
    throw new Problem('arguments-wrong', `${verb} takes one session`, { hint: 'holdfast ls lists them' })
  return reference
}

export function noWords(parsed: Parsed, verb: string): void {
  if (parsed.words.length > 0) throw new Problem('arguments-wrong', `${verb} takes no ${JSON.stringify(parsed.words[0])}`)
}

/** A text may begin with a dash: behind -- nothing is an option. */
export const allWords = ({ words, command }: Parsed): readonly string[] => [...words, ...(command ?? [])]
