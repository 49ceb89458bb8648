import type { Argument, Command } from '../command.ts'
import type { Option, Thing } from '../options.ts'
import { type Path, pathsOf, quoted } from './paths.ts'

/** Verbs and options are in the script; sessions and agents are asked for when they are needed. */
export function zshScript(table: readonly Command[]): string {
  const paths = pathsOf(table)
  const verbs = paths.filter(({ path }) => !path.includes(' '))
  const below = (verb: string): Path[] => paths.filter(({ path }) => path.startsWith(`${verb} `))
  const globals = (verbs[0]?.options ?? []).filter(({ name }) => ['json', 'home', 'help'].includes(name))
  return `#compdef holdfast
# zsh completion for holdfast. Printed by: holdfast completion zsh

_holdfast_list() {
  local line
  local -a found
  for line in \${(f)"$($program _complete $1 $home 2>/dev/null)"}; do
    found+=("\${line/$'\\t'/:}")
  done
  _describe -t $1 $1 found
}

_holdfast_command() {
  _alternative 'agents:agent: _holdfast_list agent' 'commands:command:_command_names -e'
}

# The words of a command are completed as its own.
_holdfast_rest() {
  while (($#words > 1)) && [[ $words[1] == -- ]]; do
    shift words
    ((CURRENT--))
  done
  _normal
}

_holdfast_verbs() {
  local -a verbs=(
${verbs.map(({ path, about }) => `    ${quoted(described(path, about))}`).join('\n')}
  )
  _describe -t verbs verb verbs
}

_holdfast() {
  local curcontext=$curcontext program=$words[1] state line ret=1
  local -i at=\${words[(I)--home]}
  local -a subs home
  ((at)) && home=(--home $words[at+1])
  typeset -A opt_args
  _arguments -C -S ${globals.map(optionSpec).join(' ')} '--version[print the version]' '1: :_holdfast_verbs' '*:: :->verb' && ret=0
  [[ $state == verb ]] || return ret
  curcontext="\${curcontext%:*}-$line[1]:"
  case $line[1] in
${verbs.map((verb) => (verb.subs.length === 0 ? branch(verb, verb.path, '  ') : family(verb, below(verb.path)))).join('\n')}
  esac
  return ret
}

if [[ $funcstack[1] == _holdfast ]]; then
  _holdfast "$@"
else
  compdef _holdfast holdfast
fi
`
}

const branch = (path: Path, name: string, indent: string): string =>
  [
    `${indent}${name})`,
    `${indent}  _arguments -S \\`,
    ...specs(path).map((spec) => `${indent}    ${spec} \\`),
    `${indent}    && ret=0`,
    `${indent}  ;;`,
  ].join('\n')

const family = ({ path, subs }: Path, below: readonly Path[]): string => `  ${path})
    subs=(${subs.map(({ name, about }) => quoted(described(name, about))).join(' ')})
    _arguments -C -S '1: :{_describe -t verbs verb subs}' '*:: :->sub' && ret=0
    [[ $state == sub ]] || return ret
    case $line[1] in
${below.map((sub) => branch(sub, sub.path.slice(path.length + 1), '    ')).join('\n')}
    esac
    ;;`

const specs = ({ options, arguments: taken, takesCommand }: Path): string[] => [
  ...options.map(optionSpec),
  ...(takesCommand ? ["'(-)1:command: _holdfast_command'", "'*::arguments: _holdfast_rest'"] : taken.map(argumentSpec)),
]

const described = (word: string, about: string): string => `${word}:${about.replaceAll(':', '\\:')}`
const escaped = (text: string): string => text.replaceAll(/[[\]:\\]/g, '\\$&')

function optionSpec(option: Option): string {
  const { name, short, about } = option
  const value = option.kind === 'flag' ? '' : `${option.kind === 'maybe' ? '::' : ':'}${option.value}:${action(option.thing)}`
  const equals = option.kind === 'flag' ? '' : option.kind === 'maybe' ? '=-' : '='
  if (short === undefined) return quoted(`--${name}${equals}[${escaped(about)}]${value}`)
  return `${quoted(`(-${short} --${name})`)}{-${short},--${name}${equals}}${quoted(`[${escaped(about)}]${value}`)}`
}

const argumentSpec = ({ name, thing, optional, many }: Argument, index: number): string =>
  quoted(`${many === true ? '*' : index + 1}${optional === true && many !== true ? '::' : ':'}${name}:${action(thing)}`)

function action(thing: Thing): string {
  if (typeof thing !== 'string') return `(${thing.join(' ')})`
  if (thing === 'directory') return '_files -/'
  if (thing === 'file') return '_files'
  if (thing === 'verb') return '_holdfast_verbs'
  return ['session', 'live-session', 'agent', 'hooked-agent'].includes(thing) ? ` _holdfast_list ${thing}` : ''
}
