import { type Command, GROUPS, type Sub, subsOf } from '../command.ts'
import { GLOBAL, type Option } from '../options.ts'
import { allExits, argumentText, DURATIONS, exitsOf, optionText, shownOptions, synopses, visible } from './shape.ts'

/** docs/holdfast.1, printed from the table, with the macros of man(7). */
export function manPage(table: readonly Command[]): string {
  const shown = visible(table)
  return `.\\" Printed from src/cli/commands by npm run docs; a test compares the two.
.TH HOLDFAST 1 "" "Holdfast" "User Commands"
.SH NAME
holdfast \\- exactly one live owner on every coding\\-agent session
.SH SYNOPSIS
.B holdfast
.I VERB
[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]
.br
.B holdfast
.I VERB
.B \\-\\-help
.SH DESCRIPTION
Holdfast keeps exactly one live owner on every coding\\-agent session, and leaves nothing behind when it ends.
Text for people goes to stdout and messages go to stderr.
${text(DURATIONS)}
.SH OPTIONS
Every verb takes these options, also before the verb.
${GLOBAL.map(optionItem).join('\n')}
${GROUPS.map((group) => [`.SH ${group.toUpperCase()}`, ...shown.filter((command) => command.group === group).map(entry)].join('\n')).join('\n')}
.SH EXIT STATUS
${allExits()
  .map(([code, meaning]) => item(`.B ${code}`, meaning))
  .join('\n')}
.PP
A foreground run gives the exit code of the agent, and 128 plus the number of the signal after a signal.
.SH ENVIRONMENT
${item('.B HOLDFAST_HOME', 'the folder of all state; the default is holdfast in XDG_STATE_HOME, or ~/.local/state/holdfast')}
${item('.B HOLDFAST_NODE', 'the Node program that runs the command')}
${item('.B NO_COLOR', 'print no colours')}
.SH FILES
${item('.I HOLDFAST_HOME/config.toml', 'the configuration: agents of your own, spared processes, the port of the daemon, notifications')}
${item('.I HOLDFAST_HOME/holdfast.db', 'the store')}
${item('.I HOLDFAST_HOME/runs', 'a directory for each run, with its log')}
`
}

function entry(command: Command): string {
  const { description, examples, otherExits } = command.more()
  return [
    `.SS ${command.name}`,
    ...synopses(command).flatMap((line, index) => [...(index === 0 ? [] : ['.br']), `\\fB${text(line)}\\fR`]),
    '.PP',
    ...description.map(text),
    ...subsOf(command).flatMap((sub) => [item(`.B ${sub.name}`, sub.summary), ...inside(takes(sub))]),
    ...takes(command),
    '.PP',
    'Examples:',
    ...examples.map(([line, about]) => item(`.B holdfast ${text(line)}`, about)),
    '.PP',
    'Exit codes:',
    ...exitsOf(command).map(([code, meaning]) => item(`.B ${code}`, meaning)),
    ...(otherExits === undefined ? [] : ['.PP', text(otherExits)]),
  ].join('\n')
}

const takes = ({ arguments: taken, options }: Command | Sub): string[] => [
  ...taken.map((argument) => item(`.I ${text(argumentText(argument))}`, argument.about)),
  ...shownOptions({ options }).map(optionItem),
]

const inside = (lines: readonly string[]): string[] => (lines.length === 0 ? [] : ['.RS', ...lines, '.RE'])
const optionItem = (option: Option): string => item(`.B ${text(optionText(option).trimStart())}`, option.about)
const item = (term: string, about: string): string => `.TP\n${term}\n${text(about)}`

/** Characters that roff would read as its own, and those that it knows by number only. */
const text = (plain: string): string =>
  plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll(/[^\0-\x7F]/gu, (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)
    .replace(/^\./, '\\&.')
