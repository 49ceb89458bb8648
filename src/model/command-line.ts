import type { Harness, Words } from './harness.ts'

/** What the ids of most harnesses look like. Names, numbers and `latest` are no ids. */
export const SESSION_ID = /^((T-)?[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|ses_\w+|session_[\w-]+|\d{8}_\d+)$/i

/** A word of a command line, understood: an option with the value that it is given in the same word, or a plain word and its place among those. */
export type Part =
  | { readonly kind: 'option'; readonly at: number; readonly name: string; readonly value: string | null }
  | { readonly kind: 'plain'; readonly at: number; readonly word: string; readonly place: number }

/** A command line in parts. Values of options that are known to have one are theirs; after `--` nothing is an option. */
export function partsOf(harness: Harness, args: Words): Part[] {
  const valued = new Set([...(harness.program.valued ?? []), ...namesIn(harness.speech.keeps.valued)])
  const parts: Part[] = []
  let place = 0
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? ''
    if (word === '--') return parts
    if (!word.startsWith('-') || word === '-') {
      parts.push({ kind: 'plain', at, word, place })
      place += 1
      continue
    }
    const { name, value } = optionIn(word, harness.speech.id ?? SESSION_ID)
    parts.push({ kind: 'option', at, name, value })
    if (value === null && valued.has(name)) at += 1
  }
  return parts
}

/** `--resume=ID`, `--resume ID`, and `-rID`; only an id is believed to be glued to a letter. */
function optionIn(word: string, id: RegExp): { readonly name: string; readonly value: string | null } {
  if (/^-[a-zA-Z]/.test(word) && id.test(word.slice(2))) return { name: word.slice(0, 2), value: word.slice(2) }
  const split = word.indexOf('=')
  return split < 0 ? { name: word, value: null } : { name: word.slice(0, split), value: word.slice(split + 1) }
}

export const namesIn = (entries: Words): string[] => entries.flatMap((entry) => entry.split('|'))

/** A sub-command stands first, or after the one that it belongs to (`exec resume`); further on a word is of a prompt. */
const LAST_PLACE_OF_COMMAND = 1
/** Which of these options and first arguments does the command line say? */
export const saying = (harness: Harness, args: Words, words: Words): Part[] =>
  partsOf(harness, args).filter((part) => (part.kind === 'option' ? words.includes(part.name) : isCommand(part) && words.includes(part.word)))

const isCommand = ({ place }: { readonly place: number }): boolean => place <= LAST_PLACE_OF_COMMAND

/** The session that a command line names. A fork gets an id that nobody has told, unless it is preset. */
export function namedSession(harness: Harness, args: Words): string | null {
  const { preset, forks, idAfter } = harness.speech
  const presets = (preset ?? []).filter((word) => idAfter.includes(word))
  return idBehind(harness, args, presets) ?? (saying(harness, args, forks).length > 0 ? null : idBehind(harness, args, idAfter))
}

function idBehind(harness: Harness, args: Words, words: Words): string | null {
  const shape = harness.speech.id ?? SESSION_ID
  const parts = partsOf(harness, args)
  const values = saying(harness, args, words).map((said) => {
    if (said.kind === 'option') return said.value ?? args[said.at + 1] ?? ''
    return parts.flatMap((part) => (part.kind === 'plain' && part.place > said.place ? part.word : []))[0] ?? ''
  })
  return values.map(withoutFolder).find((value) => shape.test(value)) ?? null
}

/** Some take the file of a session for its id. */
const withoutFolder = (value: string): string => value.replace(/^.*\//, '').replace(/\.jsonl$/, '')
