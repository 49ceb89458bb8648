import { nearest, Problem } from '../model/index.ts'
import { type Command, type Sub, subsOf } from './command.ts'
import { GLOBAL, type Option, type Parsed, parse } from './options.ts'

/** One verb's words. `sub`: the verb of its own that they name, without which `parsed.words` goes on. */
export type Said = { readonly parsed: Parsed; readonly sub: Sub | null }

export function parseVerb(command: Command, args: readonly string[], table: readonly Command[]): Said {
  const about = { help: `holdfast ${command.name} --help`, verb: command.name, takers: (name: string) => takersOf(name, table) }
  if (!('subs' in command)) return { parsed: parse(args, { ...command, ...about }), sub: null }
  if (command.takesCommand !== true) {
    const parsed = parse(args, { options: allOptions(command.subs), ...about })
    if (parsed.flags.has('help')) return { parsed, sub: null }
    const [word, ...words] = parsed.words
    const sub = subNamed(command.name, command.subs, word)
    refuseOptionsOfOthers(command.name, sub, command.subs, parsed)
    return { parsed: { ...parsed, words }, sub }
  }
  const outer = parse(args, { options: [], takesCommand: true, ...about })
  if (outer.flags.has('help')) return { parsed: outer, sub: null }
  const [word, ...rest] = outer.command ?? []
  const sub = subNamed(command.name, command.subs, word)
  return { parsed: merged(outer, parse(rest, { ...sub, ...about, verb: `${command.name} ${sub.name}` })), sub }
}

/** The verbs, and verbs of verbs, that take this option. */
export const takersOf = (name: string, table: readonly Command[]): string[] =>
  table.flatMap((command) => {
    const has = ({ options }: Pick<Command, 'options'>): boolean => options.some((option) => option.name === name && option.hidden !== true)
    if (command.hidden === true) return []
    return [
      ...(has(command) ? [command.name] : []),
      ...subsOf(command)
        .filter(has)
        .map((sub) => `${command.name} ${sub.name}`),
    ]
  })

/** Options may also stand before the word that the second of the two is about. */
export const merged = (first: Parsed, second: Parsed): Parsed => ({
  ...second,
  flags: new Set([...first.flags, ...second.flags]),
  values: new Map([...first.values, ...second.values]),
})

const allOptions = (subs: readonly Sub[]): Option[] => [
  ...new Map(subs.flatMap(({ options }) => options).map((option) => [option.name, option])).values(),
]

function subNamed(verb: string, subs: readonly Sub[], word: string | undefined): Sub {
  const sub = subs.find(({ name }) => name === word)
  if (sub !== undefined) return sub
  const not = word === undefined ? '' : `, not ${JSON.stringify(word)}`
  const names = subs.map(({ name }) => name)
  const near = nearest(word ?? '', names)
  const hint = `${near === null ? '' : `did you mean ${verb} ${near}? `}holdfast ${verb} --help explains them`
  throw new Problem('verb-unknown', `${verb} takes ${oneOf(names)}${not}`, { hint })
}

function refuseOptionsOfOthers(verb: string, sub: Sub, subs: readonly Sub[], { flags, values }: Parsed): void {
  const own = new Set([...GLOBAL, ...sub.options].map(({ name }) => name))
  const wrong = [...flags, ...values.keys()].find((name) => !own.has(name))
  if (wrong === undefined) return
  const owners = subs.filter(({ options }) => options.some(({ name }) => name === wrong)).map(({ name }) => `${verb} ${name}`)
  throw new Problem('option-misplaced', `--${wrong} is for ${owners.join(' and ')}`)
}

/** A verb may have a single one. */
const oneOf = (names: readonly string[]): string => (names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`)
