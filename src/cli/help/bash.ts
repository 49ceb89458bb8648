import type { Command } from '../command.ts'
import { kindOf, type Path, pathsOf, quoted, spellings } from './paths.ts'

/** Verbs and options are in the script; sessions and agents are asked for when they are needed. */
export function bashScript(table: readonly Command[]): string {
  const paths = pathsOf(table)
  const verbs = paths.filter(({ path }) => !path.includes(' ')).map(({ path }) => path)
  return `# bash completion for holdfast. Printed by: holdfast completion bash

_holdfast_verbs=${quoted(verbs.join(' '))}

_holdfast_subs() {
  case $1 in
${cases(paths.filter(({ subs }) => subs.length > 0).map(({ path, subs }) => [quoted(path), subs.map(({ name }) => name).join(' ')]))}
  *) return 1 ;;
  esac
}

_holdfast_options() {
  case $1 in
${cases(paths.map(({ path, options }) => [quoted(path), options.flatMap(spellings).join(' ')]))}
  *) echo '--json --home --help -h --version' ;;
  esac
}

# The kind of value that an option takes; none: it is a flag.
_holdfast_value() {
  case "$1 $2" in
  *' --home') echo directory ;;
${cases(paths.flatMap(valueCases))}
  *) return 1 ;;
  esac
}

# The kind of the word at a position, counted from 0.
_holdfast_argument() {
  case "$1 $2" in
${cases(paths.flatMap(argumentCases))}
  esac
}
${body()}`
}

const cases = (entries: readonly (readonly [string, string])[]): string =>
  entries.map(([when, words]) => `  ${when}) echo ${quoted(words)} ;;`).join('\n')

const valueCases = ({ path, options }: Path): [string, string][] =>
  options
    .filter(({ name }) => name !== 'home')
    .flatMap((option) =>
      option.kind === 'value'
        ? [
            [
              spellings(option)
                .map((word) => quoted(`${path} ${word}`))
                .join(' | '),
              kindOf(option.thing),
            ] as [string, string],
          ]
        : [],
    )

const argumentCases = ({ path, arguments: taken, takesCommand }: Path): [string, string][] =>
  takesCommand
    ? [[`${quoted(path)}' '*`, 'command']]
    : taken.map((argument, index) => [argument.many === true ? `${quoted(path)}' '*` : quoted(`${path} ${index}`), kindOf(argument.thing)])

/** The part that is the same for every table. */
const body = (): string =>
  String.raw`
_holdfast_offer() {
  local kind=$1 word
  case $kind in
  session | live-session | agent | hooked-agent)
    while IFS=$'\t' read -r word _; do
      [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
    done < <("$program" _complete "$kind" \${home:+--home "$home"} 2>/dev/null)
    ;;
  command)
    _holdfast_offer agent
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -c -- "$cur")
    ;;
  directory | file)
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "-\${kind:0:1}" -- "$cur")
    ;;
  verb) _holdfast_offer "words $_holdfast_verbs" ;;
  words\ *)
    for word in \${kind#words }; do
      [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
    done
    ;;
  esac
}

_holdfast() {
  local program=\${1/#'~/'/"$HOME/"} cur=\${COMP_WORDS[COMP_CWORD]} home='' path='' subs='' before='' expects='' count=0 plain=0 index word
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [[ $word == '=' ]]; then
      # The value follows. Only an option that needs a value tells its kind.
      [[ -n $expects ]] || ((++index < COMP_CWORD)) || return 0
      continue
    fi
    if [[ -n $expects ]]; then
      [[ $before == --home ]] && home=\${word/#'~/'/"$HOME/"}
      expects=''
    elif [[ $word == -- ]]; then
      if [[ $(_holdfast_argument "$path" 0) == command ]]; then
        _holdfast_command $((index + 1))
        return 0
      fi
      plain=1
    elif [[ $plain == 0 && $word == -?* ]]; then
      expects=$(_holdfast_value "$path" "$word")
      before=$word
    elif [[ -z $path ]]; then
      path=$word
      subs=$(_holdfast_subs "$path")
    elif [[ -n $subs ]]; then
      path="$path $word"
      subs=''
    elif [[ $(_holdfast_argument "$path" "$count") == command ]]; then
      _holdfast_command "$index"
      return 0
    else
      ((count++))
    fi
  done
  [[ $cur == '=' ]] && cur=''
  if [[ -n $expects ]]; then
    _holdfast_offer "$expects"
  elif [[ $plain == 0 && $cur == -* ]]; then
    _holdfast_offer "words $(_holdfast_options "$path")"
  elif [[ -z $path ]]; then
    _holdfast_offer verb
  elif [[ -n $subs ]]; then
    _holdfast_offer "words $subs"
  else
    _holdfast_offer "$(_holdfast_argument "$path" "$count")"
  fi
}

# An agent's own words are completed as its shell would, where bash-completion is there.
_holdfast_command() {
  if ((COMP_CWORD > $1)) && declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD > $1)); then
    _holdfast_offer file
  else
    _holdfast_offer command
  fi
}

complete -F _holdfast holdfast
`.replaceAll('\\${', '${')
