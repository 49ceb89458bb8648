import type { ShellAgent } from '../../app/index.ts'
import { quoted } from './paths.ts'

/** What stands between the words with which an agent is left alone. */
const BETWEEN = '|'
const about = (shell: string): string => `# Printed by: holdfast shell-init ${shell}
# Agents that are started by hand run through Holdfast. Left alone are scripts, pipes, the inside of a session, and one-shot words such as mcp or --version.
# The way around: HOLDFAST_BYPASS=1 claude …, or: command claude …`

/** For bash and zsh. Functions are not inherited: scripts see the agents themselves. */
const posix =
  (shell: 'bash' | 'zsh') =>
  (agents: readonly ShellAgent[]): string =>
    `${about(shell)}

_holdfast_agent() {
  local hf_name=$1 hf_command=$2 hf_idle=$3
  shift 3
  if [ -n "\${HOLDFAST_BYPASS-}" ] || [ -n "\${HOLDFAST_RUN-}" ] || [ ! -t 0 ] || [ ! -t 1 ] || ! command -v holdfast >/dev/null 2>&1; then
    command "$hf_command" "$@"
    return
  fi
  case $hf_idle in *"${BETWEEN}\${1-}${BETWEEN}"*)
    command "$hf_command" "$@"
    return
    ;;
  esac
  command holdfast run "$hf_name" "$@"
}

${agents
  .map(
    ({ name, command, idle }) =>
      `if command -v ${command} >/dev/null 2>&1; then function ${command} { _holdfast_agent ${name} ${command} ${quoted(`${BETWEEN}${idle.join(BETWEEN)}${BETWEEN}`)} "$@"; }; fi`,
  )
  .join('\n')}
`

const fish = (agents: readonly ShellAgent[]): string => `${about('fish')}

function _holdfast_agent
  set -l hf_name $argv[1]
  set -l hf_command $argv[2]
  set -l hf_idle (string split '${BETWEEN}' -- $argv[3])
  set -e argv[1..3]
  if test -n "$HOLDFAST_BYPASS"; or test -n "$HOLDFAST_RUN"; or not isatty stdin; or not isatty stdout; or not command -sq holdfast
    command $hf_command $argv
    return
  end
  if test (count $argv) -gt 0; and contains -- $argv[1] $hf_idle
    command $hf_command $argv
    return
  end
  command holdfast run $hf_name $argv
end

${agents
  .map(
    ({ name, command, idle }) => `if command -sq ${command}
  function ${command} --wraps ${command}
    _holdfast_agent ${name} ${command} ${quoted(idle.join(BETWEEN))} $argv
  end
end`,
  )
  .join('\n')}
`

export const shellInits = { bash: posix('bash'), zsh: posix('zsh'), fish } as const
