import { type Command, GROUPS, type Sub, subsOf } from '../command.ts'
import { GLOBAL, type Option } from '../options.ts'
import { allExits, argumentText, DURATIONS, type ExitRow, exitsOf, optionText, shownOptions, synopses, visible } from './shape.ts'

/** docs/reference/commands.md, printed from the table. */
export function referencePage(table: readonly Command[]): string {
  const groups = GROUPS.map((group) => ({ group, commands: visible(table).filter((command) => command.group === group) }))
  return `# Commands: reference

Printed from \`src/cli/commands\` by \`npm run docs\`; a test compares the two. [The commands page](../commands.md) explains how they behave.

${groups.map(({ group, commands }) => `- **${group}**: ${commands.map(({ name }) => `[${name}](#${name})`).join(' · ')}`).join('\n')}

Every verb takes these options, also before the verb:

${optionTable(GLOBAL)}

Text for people goes to stdout and messages go to stderr. With \`--json\` the answer is one object or array on stdout.
A refusal is then one object on stderr, and stdout stays empty. ${DURATIONS}

${exitTable(allExits())}

${groups.flatMap(({ commands }) => commands.map(entry)).join('\n')}`
}

function entry(command: Command): string {
  const { description, examples, otherExits } = command.more()
  const parts = [
    `## ${command.name}`,
    `${capital(command.summary)}.`,
    fenced(synopses(command)),
    description.join('\n'),
    ...(command.also === undefined ? [] : [`The same: ${command.also.map((word) => `\`holdfast ${word}\``).join(', ')}.`]),
    ...subsOf(command).map(subEntry),
    ...takes(command),
    `Examples:\n\n${examples.map(([line, about]) => `- \`holdfast ${line}\`: ${about}`).join('\n')}`,
    exitTable(exitsOf(command)),
    ...(otherExits === undefined ? [] : [otherExits]),
  ]
  return `${parts.join('\n\n')}\n`
}

const subEntry = (sub: Sub): string => [`\`${sub.name}\`: ${sub.summary}.`, ...takes(sub)].join('\n\n')

const takes = ({ arguments: taken, options }: Command | Sub): string[] => [
  ...(taken.length === 0
    ? []
    : [
        table(
          ['argument', 'meaning'],
          taken.map((argument) => [`\`${argumentText(argument)}\``, argument.about]),
        ),
      ]),
  ...(shownOptions({ options }).length === 0 ? [] : [optionTable(shownOptions({ options }))]),
]

const optionTable = (options: readonly Option[]): string =>
  table(
    ['option', 'meaning'],
    options.map((option) => [`\`${optionText(option).trimStart()}\``, option.about]),
  )

const exitTable = (exits: readonly ExitRow[]): string =>
  table(
    ['exit code', 'meaning'],
    exits.map(([code, meaning]) => [String(code), meaning]),
  )

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')

const fenced = (lines: readonly string[]): string => `\`\`\`\n${lines.join('\n')}\n\`\`\``
const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
