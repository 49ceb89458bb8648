import { Problem } from '../model/index.ts'
import type { Command, Sub } from './command.ts'
import { GLOBAL, type Option, type Parsed, parse } from './options.ts'

/** One verb's words. `sub`: the verb of its own that they name, without which `parsed.words` goes on. */
export type Said = { readonly parsed: Parsed; readonly sub: Sub | null }

export function parseVerb(command: Command, args: readonly string[]): Said {
  const help = `holdfast ${command.name} --help`
  if (!('subs' in command)) return { parsed: parse(args, { ...command, help }), sub: null }
  if (command.takesCommand !== true) {
    const parsed = parse(args, { options: allOptions(command.subs), help })
    if (parsed.flags.has('help')) return { parsed, sub: null }
    const [word, ...words] = parsed.words
    const sub = subNamed(command.name, command.subs, word)
    refuseOptionsOfOthers(command.name, sub, command.subs, parsed)
    return { parsed: { ...parsed, words }, sub }
  }
  const outer = parse(args, { options: [], takesCommand: true, help })
  if (outer.flags.has('help')) return { parsed: outer, sub: null }
  const [word, ...rest] = outer.command ?? []
  const sub = subNamed(command.name, command.subs, word)
  return { parsed: merged(outer, parse(rest, { ...sub, help })), sub }
}

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
  throw new Problem('verb-unknown', `${verb} takes ${oneOf(subs.map(({ name }) => name))}${not}`, { hint: `holdfast ${verb} --help explains them` })
}

function refuseOptionsOfOthers(verb: string, sub: Sub, subs: readonly Sub[], { flags, values }: Parsed): void {
  const own = new Set([...GLOBAL, ...sub.options].map(({ name }) => name))
  const wrong = [...flags, ...values.keys()].find((name) => !own.has(name))
  if (wrong === undefined) return
  const owners = subs.filter(({ options }) => options.some(({ name }) => name === wrong)).map(({ name }) => `${verb} ${name}`)
  throw new Problem('option-misplaced', `--${wrong} is for ${owners.join(' and ')}`)
}

const oneOf = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`
