import type { Command } from '../command.ts'
import type { Option, Thing } from '../options.ts'
import { type Path, pathsOf, spellings } from './paths.ts'

/** Verbs and options are in the script; sessions and agents are asked for when they are needed. */
export function fishScript(table: readonly Command[]): string {
  const paths = pathsOf(table)
  const verbs = paths.filter(({ path }) => !path.includes(' '))
  return `# fish completion for holdfast. Printed by: holdfast completion fish

# The verb that the words before the cursor name, and how many arguments it has; "command" once a command has begun.
function __holdfast_place
    set -l path ''
    set -l count 0
    set -l skip 0
    set -l plain 0
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test $skip = 1
            set skip 0
            continue
        end
        if test $plain = 0
            switch "$path $word"
                case ${paths.flatMap(valued).map(inQuotes).join(' ')} '* --home'
                    set skip 1
                    continue
                case ${paths
                  .filter(({ takesCommand }) => takesCommand)
                  .map(({ path }) => inQuotes(`${path} --`))
                  .join(' ')}
                    echo command
                    return
                case '* --'
                    set plain 1
                    continue
                case '* -*'
                    continue
            end
        end
        switch "$path"
            case ''
                set path $word
            case ${verbs
              .filter(({ subs }) => subs.length > 0)
              .map(({ path }) => path)
              .join(' ')}
                set path "$path $word"
            case ${paths
              .filter(({ takesCommand }) => takesCommand)
              .map(({ path }) => inQuotes(path))
              .join(' ')}
                echo command
                return
            case '*'
                set count (math $count + 1)
        end
    end
    echo "$path/$count"
end

# At this verb, and where a number is given, at that argument.
function __holdfast_at
    set -l place (string split / (__holdfast_place))
    test "$place[1]" = "$argv[1]"; and begin
        test (count $argv) = 1; or test "$place[2]" = "$argv[2]"
    end
end

function __holdfast_list
    set -l words (commandline -opc)
    set -l home
    set -l at (contains -i -- --home $words); and set home --home $words[(math $at + 1)]
    command $words[1] _complete $argv[1] $home 2>/dev/null
end

complete -c holdfast -f -n 'not __holdfast_at command'
complete -c holdfast -n "__holdfast_at ''" -l version -d ${inQuotes('print the version')}
${globals(verbs[0]?.options ?? [])}
${verbs.map(({ path, about }) => `complete -c holdfast -n "__holdfast_at ''" -a ${path} -d ${inQuotes(about)}`).join('\n')}
${paths.flatMap((path) => lines(path, verbs)).join('\n')}
`
}

const inQuotes = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const valued = ({ path, options }: Path): string[] =>
  options.flatMap((option) => (option.kind === 'value' && option.name !== 'home' ? spellings(option).map((word) => `${path} ${word}`) : []))

const GLOBALS = ['json', 'home', 'help']
const globals = (options: readonly Option[]): string =>
  options
    .filter(({ name }) => GLOBALS.includes(name))
    .map((option) => `complete -c holdfast -n 'not __holdfast_at command' ${optionWords(option)}`)
    .join('\n')

function lines({ path, options, arguments: taken, takesCommand, subs }: Path, verbs: readonly Path[]): string[] {
  const at = (count?: number): string => `complete -c holdfast -n "__holdfast_at '${path}'${count === undefined ? '' : ` ${count}`}"`
  return [
    ...subs.map(({ name, about }) => `${at()} -a ${name} -d ${inQuotes(about)}`),
    ...options.filter(({ name }) => !GLOBALS.includes(name)).map((option) => `${at()} ${optionWords(option)}`),
    ...(takesCommand ? [`${at()} -a '(__holdfast_list agent) (__fish_complete_command)'`] : []),
    ...(takesCommand
      ? []
      : taken.flatMap(({ thing, many }, index) => offered(thing, verbs).map((words) => `${at(many ? undefined : index)} -a ${words}`))),
  ]
}

function optionWords(option: Option): string {
  const names = `-l ${option.name}${option.short === undefined ? '' : ` -s ${option.short}`}`
  if (option.kind !== 'value') return `${names} -d ${inQuotes(option.about)}`
  const value = option.thing === 'file' ? '-r -F' : ['-x', ...offered(option.thing, []).map((words) => `-a ${words}`)].join(' ')
  return `${names} ${value} -d ${inQuotes(option.about)}`
}

function offered(thing: Thing, verbs: readonly Path[]): string[] {
  if (typeof thing !== 'string') return [inQuotes(thing.join(' '))]
  if (thing === 'directory') return ["'(__fish_complete_directories)'"]
  if (thing === 'verb') return [inQuotes(verbs.map(({ path }) => path).join(' '))]
  return ['session', 'live-session', 'agent', 'hooked-agent'].includes(thing) ? [`'(__holdfast_list ${thing})'`] : []
}
