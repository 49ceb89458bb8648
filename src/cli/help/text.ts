import { type Command, GROUPS, type Sub, subsOf } from '../command.ts'
import { GLOBAL } from '../options.ts'
import { argumentText, DURATIONS, exitsOf, optionText, shownOptions, synopses, takesDuration, visible } from './shape.ts'
import { beside, wrap } from './wrap.ts'

/** Where summaries begin in the overview, and explanations in the help of a verb. */
const SUMMARY_COLUMN = 14
const ABOUT_COLUMN = 28

/** `holdfast help`: a line for each verb, on one screen. */
export function overviewText(table: readonly Command[]): string {
  const shown = visible(table)
  const lines = GROUPS.flatMap((group) => [
    group,
    ...shown
      .filter((command) => command.group === group && command.rare !== true)
      .flatMap(({ name, summary }) => beside(`  ${name}`, summary, SUMMARY_COLUMN)),
  ])
  const rare = shown.filter((command) => command.rare === true).map(({ name }) => name)
  if (rare.length > 0) lines.push('rarely needed', ...wrap(rare.join(', '), 2))
  return `holdfast: exactly one live owner on every coding-agent session
${lines.join('\n')}

holdfast VERB --help explains a verb. Every verb takes --json and --home DIR.
exit codes: 0 done, 64 wrong words, 66 not found, 69 unavailable, 70 bug,
75 held, 76 cannot be proven, 79 survivors; a foreground run: the agent's own`
}

/** `holdfast VERB --help`. */
export function verbText(command: Command): string {
  const { description, examples, otherExits } = command.more()
  const subs = subsOf(command)
  const sections = [
    [`holdfast ${command.name}: ${command.summary}`],
    command.also === undefined ? [] : [`The same: ${command.also.map((word) => `holdfast ${word}`).join(', ')}.`],
    ['usage', ...synopses(command).map((line) => `  ${line}`)],
    wrap(description.join(' '), 0),
    section('verbs', subs.flatMap(subLines)),
    section(
      'arguments',
      command.arguments.flatMap((argument) => beside(`  ${argumentText(argument)}`, argument.about, ABOUT_COLUMN)),
    ),
    section('options', optionLines(command)),
    ['everywhere', ...optionLines({ options: GLOBAL })],
    takesDuration(command) ? [DURATIONS] : [],
    section(
      'examples',
      examples.flatMap(([line, about]) => [`  holdfast ${line}`, ...wrap(about, 6)]),
    ),
    [
      'exit codes',
      ...exitsOf(command).flatMap(([code, meaning]) => beside(`  ${code}`, meaning, 6)),
      ...(otherExits === undefined ? [] : wrap(otherExits, 2)),
    ],
  ]
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

const section = (title: string, lines: readonly string[]): string[] => (lines.length === 0 ? [] : [title, ...lines])

const optionLines = (takes: Pick<Command, 'options'>): string[] =>
  shownOptions(takes).flatMap((option) => beside(`  ${optionText(option)}`, option.about, ABOUT_COLUMN))

const subLines = (sub: Sub): string[] => [
  ...beside(`  ${sub.name}`, sub.summary, ABOUT_COLUMN),
  ...sub.arguments.flatMap((argument) => beside(`      ${argumentText(argument)}`, argument.about, ABOUT_COLUMN)),
  ...optionLines(sub),
]
