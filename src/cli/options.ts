import { Problem } from '../model/index.ts'

/** `flag` takes nothing, `value` takes the next word (or `--name=value`), `maybe` takes one if it is plain that it is not the command. */
export type Spec = Readonly<Record<string, 'flag' | 'value' | 'maybe'>>
export type Parsed = {
  readonly flags: ReadonlySet<string>
  readonly values: ReadonlyMap<string, string>
  readonly words: readonly string[]
  /** What follows `--`, or the first word where a command begins; null if neither came. */
  readonly command: readonly string[] | null
  /** It followed `--`: as it stands, and not the name of an agent. */
  readonly literal: boolean
}

export const GLOBAL: Spec = { json: 'flag', home: 'value', help: 'flag' }
const SHORT: Readonly<Record<string, string>> = { d: 'detach', f: 'follow', n: 'lines', h: 'help', a: 'all' }

/** Unknown options are errors. With `commandAtWord` the first plain word begins a command, so its options are not ours. */
export function parse(args: readonly string[], spec: Spec, commandAtWord = false): Parsed {
  const known: Spec = { ...GLOBAL, ...spec }
  const flags = new Set<string>()
  const values = new Map<string, string>()
  const words: string[] = []
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? ''
    if (word === '--') return { flags, values, words, command: args.slice(index + 1), literal: true }
    // What has a blank in it is a text.
    if (!word.startsWith('-') || word === '-' || /^-[^=]*\s/.test(word)) {
      if (commandAtWord) return { flags, values, words, command: args.slice(index), literal: false }
      words.push(word)
      continue
    }
    const [name, inline] = split(word)
    const kind = known[name]
    if (kind === undefined)
      throw new Problem('option-unknown', `unknown option ${word.slice(0, 100)}`, {
        hint: 'holdfast help lists them; what begins with a dash and is none comes after --',
      })
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
    const value = inline ?? args[++index]
    if (value === undefined) throw new Problem('option-value-missing', `--${name} needs a value`)
    values.set(name, value)
  }
  return { flags, values, words, command: null, literal: false }
}

/** The next word is the option's own if `--` or another option of ours follows it, and no option's if it is the last, or none. */
function ownWord(name: string, [next = '', after]: readonly string[], known: Spec): string | null {
  if (next === '' || next.startsWith('-') || after === undefined) return null
  if (after === '--' || (after.startsWith('-') && known[split(after)[0]] !== undefined)) return next
  throw new Problem('option-value-ambiguous', `is ${JSON.stringify(next)} what --${name} takes, or does the command begin there?`, {
    hint: `say --${name}=${next}, or put -- before the command`,
  })
}

function split(word: string): [string, string | undefined] {
  if (!word.startsWith('--')) return [SHORT[word.slice(1)] ?? word, undefined]
  const equals = word.indexOf('=')
  return equals < 0 ? [word.slice(2), undefined] : [word.slice(2, equals), word.slice(equals + 1)]
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
