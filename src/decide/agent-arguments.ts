import type { Harness, Words } from '../model/index.ts'
import { namedSession, namesIn, partsOf, saying } from '../model/index.ts'

/** Arguments for a new session, and the id that it will have for certain. */
export function startWords(harness: Harness, args: Words, id: string | null): { readonly words: Words; readonly id: string | null } {
  const { preset } = harness.speech
  // Its daemon gives the session an id, whatever it is told.
  if (daemonizes(harness, args)) return { words: args, id: null }
  if (choosesSession(harness, args)) return { words: args, id: idIn(harness, args) }
  if (preset === null || id === null || isService(harness, args)) return { words: args, id: null }
  return { words: [...fill(preset, { id, prompt: '', args: [] }), ...args], id }
}

/** Arguments that go on with a session as its earlier run was told to, and as the caller says now; null: it cannot be resumed. */
export function resumeWords(harness: Harness, id: string, keptFrom: Words, args: Words): Words | null {
  const { resume } = harness.speech
  const kept = keptWords(harness, keptFrom, args, isHeadless(harness, args) ? 'headless' : 'interactive')
  return resume === null ? null : fill(resume, { id, prompt: '', args: [...kept, ...args] })
}

export type HeadlessHow = { readonly kind: 'start'; readonly id: string | null } | { readonly kind: 'resume'; readonly id: string }

/** Arguments for one prompt without a terminal. A prompt of null comes on stdin; null: it has no such way. */
export function headlessWords(harness: Harness, how: HeadlessHow, args: Words, prompt: string | null): Words | null {
  const { headless, preset } = harness.speech
  const template = how.kind === 'start' ? headless?.start : headless?.resume
  if (headless === null || !template || (prompt === null) !== (headless.prompt === 'stdin')) return null
  const first = how.kind === 'start' && how.id !== null && !choosesSession(harness, args) ? (preset ?? []) : []
  return fill([...first, ...template], { id: how.id ?? '', prompt: prompt ?? '', args })
}

/** Of what an earlier run was told, what a later one keeps: nothing that the caller now says otherwise, nothing that it would not understand. */
export function keptWords(harness: Harness, earlier: Words, later: Words, how: 'interactive' | 'headless'): Words {
  const { flags, valued, repeated = [], many = [], interactive = [], headless = [], either = [] } = harness.speech.keeps
  const entryOf = (name: string, entries: Words): string | undefined => entries.find((entry) => entry.split('|').includes(name))
  const foreign = namesIn(how === 'headless' ? interactive : headless)
  const said = partsOf(harness, later).flatMap((part) => (part.kind === 'option' ? part.name : []))
  const replaced = (name: string): boolean => {
    const entry = entryOf(name, [...flags, ...valued, ...many]) ?? name
    const rivals = [entry.split('|'), ...either.filter((names) => names.some((one) => entry.split('|').includes(one)))].flat()
    return !repeated.includes(entry) && !many.includes(entry) && rivals.some((one) => said.includes(one))
  }
  return partsOf(harness, earlier).flatMap((part) => {
    if (part.kind === 'plain' || foreign.includes(part.name) || replaced(part.name)) return []
    if (entryOf(part.name, many) !== undefined) return valuesAt(earlier, part).map((value) => `${part.name}=${value}`)
    if (entryOf(part.name, flags) !== undefined) return part.value === null ? [part.name] : [`${part.name}=${part.value}`]
    if (entryOf(part.name, valued) === undefined) return []
    if (part.value !== null) return [`${part.name}=${part.value}`]
    return earlier.slice(part.at, part.at + 2).length === 2 ? earlier.slice(part.at, part.at + 2) : []
  })
}

function valuesAt(args: Words, { at, value }: { readonly at: number; readonly value: string | null }): Words {
  if (value !== null) return [value]
  const end = args.findIndex((word, index) => index > at && word.startsWith('-'))
  return args.slice(at + 1, end < 0 ? args.length : end)
}

/** What the command line names; a fork will have another id. */
export const idIn = (harness: Harness, args: Words): string | null => namedSession(harness, args)
export const choosesSession = (harness: Harness, args: Words): boolean => saying(harness, args, harness.speech.chooses).length > 0
/** Not which session, but the newest there is; a fork of it is another one. */
export const continuesNewest = (harness: Harness, args: Words): boolean =>
  saying(harness, args, harness.speech.continues ?? []).length > 0 && saying(harness, args, harness.speech.forks).length === 0
export const daemonizes = (harness: Harness, args: Words): boolean => saying(harness, args, harness.daemonizes).length > 0
export const isHeadless = (harness: Harness, args: Words): boolean => saying(harness, args, harness.speech.headless?.marks ?? []).length > 0

/** Whether an interactive run is told to keep out of a shared daemon: not one that only says something, nor one that has been told. */
export function wantsApart(harness: Harness, args: Words, help: string): boolean {
  const { apart, idAfter } = harness.speech
  const option = apart?.split(' ', 1)[0] ?? ''
  if (apart === undefined || args.includes(option) || isHeadless(harness, args) || !new RegExp(`^\\s*${option}\\b`, 'm').test(help)) return false
  const first = partsOf(harness, args).flatMap((part) => (part.kind === 'plain' ? part.word : []))[0]
  // A word that its help lists is a command of its own, and not a prompt.
  return first === undefined || idAfter.includes(first) || !new RegExp(`^ {1,6}${escaped(first)}\\s`, 'm').test(help)
}
const escaped = (text: string): string => text.replaceAll(/[^\w-]/g, '\\$&')

/** It would serve others, or say something, and have no session. */
const isService = ({ program }: Harness, [first = '']: Words): boolean => (program.idle ?? []).includes(first)

type Blanks = { readonly id: string; readonly prompt: string; readonly args: Words }
/** `{args}` is a word of its own, and becomes many; the others may be a part of one. Nothing that is filled in is looked at again. */
const fill = (template: Words, { id, prompt, args }: Blanks): string[] =>
  template.flatMap((word) => (word === '{args}' ? args : [word.replaceAll(/\{(id|prompt)\}/g, (_, blank) => (blank === 'id' ? id : prompt))]))
