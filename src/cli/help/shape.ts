import { exitCode } from '../../model/index.ts'
import { type Argument, type Command, type Sub, subsOf } from '../command.ts'
import type { Option } from '../options.ts'

/** Lists show these and no others. */
export const visible = (table: readonly Command[]): Command[] => table.filter(({ hidden }) => hidden !== true)
export const shownOptions = ({ options }: Pick<Command, 'options'>): Option[] => options.filter(({ hidden }) => hidden !== true)

/** `holdfast stop [OPTION…] S…`, a line for each form. */
export function synopses(command: Command): string[] {
  const subs = subsOf(command)
  if (subs.length > 0) return subs.flatMap((sub) => formsOf(sub).map((form) => `holdfast ${command.name} ${sub.name}${form}`))
  return formsOf(command).map((form) => `holdfast ${command.name}${form}`)
}

function formsOf(takes: Command | Sub): string[] {
  if (takes.forms !== undefined) return takes.forms.map((form) => ` ${form}`)
  return [`${shownOptions(takes).length > 0 ? ' [OPTION…]' : ''}${takes.arguments.map((argument) => ` ${argumentText(argument)}`).join('')}`]
}

export function argumentText({ name, optional, many }: Argument): string {
  const text = many === true ? `${name}…` : name
  return optional === true ? `[${text}]` : text
}

/** `-n, --lines N`; without a short letter its place stays empty. */
export const optionText = (option: Option): string =>
  `${option.short === undefined ? '    ' : `-${option.short}, `}--${option.name}${valueText(option)}`

function valueText(option: Option): string {
  if (option.kind === 'flag') return ''
  return option.kind === 'maybe' ? `[=${option.value}]` : ` ${option.value}`
}

/** The meaning of each code, where a verb has no other for it. */
const MEANINGS: Readonly<Record<keyof typeof exitCode, string>> = {
  done: 'done',
  badCommand: 'the words are wrong; nothing was done',
  notFound: 'no such session, directory or process',
  unavailable: 'the home or the store cannot be used',
  bug: 'an internal error, with its stack on stderr',
  held: 'held by a live owner',
  unproven: 'cannot be proven dead',
  survivors: 'processes survive',
}
const KINDS = Object.keys(MEANINGS) as (keyof typeof exitCode)[]

export type ExitRow = readonly [code: number, meaning: string]
export const allExits = (): ExitRow[] => KINDS.map((kind) => [exitCode[kind], MEANINGS[kind]])

/** Wrong words, an unusable home and a bug can meet every verb; a verb without a world meets wrong words only. */
export function exitsOf(command: Command): ExitRow[] {
  const { exits } = command.more()
  const everywhere = 'answer' in command ? ['badCommand'] : ['badCommand', 'unavailable', 'bug']
  return KINDS.filter((kind) => exits[kind] !== undefined || everywhere.includes(kind)).map((kind) => [exitCode[kind], exits[kind] ?? MEANINGS[kind]])
}

export const DURATIONS = 'A DURATION is 30s, 5m, 1h30m, 250ms, 2d, or seconds without a unit.'
export const takesDuration = (command: Command): boolean =>
  [command, ...subsOf(command)].flatMap(shownOptions).some((option) => option.kind !== 'flag' && option.value === 'DURATION')
