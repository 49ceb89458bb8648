import { basename } from 'node:path'
import { type Command, commandsIn } from './shell-words.ts'

/**
 * A program that prepares another one and starts it: its options with a value, and how many words stand before the command. `script`: an option
 * whose value is a shell script. `words`: what must stand there (`npm exec`); `fetches`: the command may be a package.
 */
type Wrapper = {
  readonly valued: RegExp
  readonly before?: number
  readonly script?: RegExp
  readonly words?: RegExp
  readonly fetches?: true
  /** What follows the script is a part of it. */
  readonly joins?: true
}

const NONE = /^$/
const SHELL: Wrapper = { valued: /^([-+][oO]|--rcfile|--init-file)$/, script: /^-[a-zA-Z]*c[a-zA-Z]*$/ }
const NPX: Wrapper = { valued: /^(-p|--package|-w|--workspace)$/, script: /^(-c|--call)$/, fetches: true }
const UVX: Wrapper = { valued: /^(--from|--with|--with-editable|-p|--python|--index|--default-index|-i|--index-url|--directory)$/, fetches: true }

const WRAPPERS: Readonly<Record<string, Wrapper | readonly Wrapper[]>> = {
  sh: SHELL,
  bash: SHELL,
  dash: SHELL,
  ash: SHELL,
  ksh: SHELL,
  zsh: SHELL,
  fish: { valued: NONE, script: /^(-c|--command)$/ },
  env: { valued: /^(-u|-C|--unset|--chdir)$/, script: /^(-S|--split-string)$/, joins: true },
  timeout: { valued: /^(-k|-s|--kill-after|--signal)$/, before: 1 },
  nice: { valued: /^(-n|--adjustment)$/ },
  ionice: { valued: /^-[cnp]$/ },
  chrt: { valued: /^-[TPD]$/, before: 1 },
  nohup: { valued: NONE },
  setsid: { valued: NONE },
  stdbuf: { valued: /^(-[ioe]|--(input|output|error))$/ },
  unbuffer: { valued: NONE },
  taskset: { valued: NONE, before: 1 },
  time: { valued: /^-[fo]$/ },
  flock: { valued: /^(-w|-E|--timeout|--conflict-exit-code)$/, before: 1, script: /^(-c|--command)$/ },
  script: { valued: /^(-[IOBTEm]|--(log-(in|out|io|timing)|echo|logging-format))$/, script: /^(-[a-z]*c|--command)$/, before: 1 },
  'systemd-run': { valued: /^(-[puEMH]|--(property|unit|setenv|machine|host|slice|uid|gid|nice|working-directory))$/ },
  strace: { valued: /^-[aeEoOPpsSuI]$/ },
  caffeinate: { valued: /^-[tw]$/ },
  'dbus-run-session': { valued: /^--(config-file|dbus-daemon)$/ },
  'xvfb-run': { valued: /^-[aefnps]$/ },
  sudo: { valued: /^-[ugCDhprtT]$/ },
  doas: { valued: /^-[uC]$/ },
  npx: NPX,
  pnpx: NPX,
  bunx: { valued: /^(-p|--package)$/, fetches: true },
  uvx: UVX,
  pipx: { valued: /^(--spec|--python|--index-url|-i)$/, words: /^run$/, fetches: true },
  uv: [
    { ...UVX, words: /^tool run$/ },
    { ...UVX, words: /^run$/ },
  ],
  npm: { ...NPX, words: /^(exec|x)$/ },
  pnpm: { ...NPX, words: /^(dlx|exec)$/ },
  yarn: { ...NPX, words: /^(dlx|exec)$/ },
  bun: { valued: /^(-p|--package)$/, words: /^x$/, fetches: true },
  mise: { valued: /^(-[CE]|--(cd|env))$/, words: /^(x|exec)$/ },
  direnv: { valued: NONE, words: /^exec$/, before: 1 },
}
const MAX_WRAPPERS = 8
const MAX_COMMANDS = 64

/** A command that wrappers start in the end. `isPackage`: its first word may name a package. */
export type Unwrapped = { readonly argv: Command; readonly isPackage: boolean }

/** The commands that a command line comes to: itself, unless it is a wrapper; several where a script has several. */
export function unwrapped(argv: readonly string[], isPackage = false, most = MAX_WRAPPERS): Unwrapped[] {
  const itself = [{ argv, isPackage }]
  const inner = most > 0 ? innerOf(argv) : null
  if (inner === null) return itself
  if (inner.kind === 'command') return unwrapped(inner.argv, inner.isPackage, most - 1)
  const commands = commandsIn(inner.script, inner.positional).slice(0, MAX_COMMANDS)
  return commands.flatMap((command) => unwrapped(evaluated(command), false, most - 1))
}

/** `eval` reads its words once more. */
const evaluated = (command: Command): Command => (command[0] === 'eval' ? ['sh', '-c', command.slice(1).join(' ')] : command)

type Inner =
  | { readonly kind: 'command'; readonly argv: Command; readonly isPackage: boolean }
  | { readonly kind: 'script'; readonly script: string; readonly positional: readonly string[] }

function innerOf(argv: readonly string[]): Inner | null {
  const name = basename(argv[0] ?? '')
  const known = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
  for (const wrapper of known === undefined ? [] : [known].flat()) {
    const from = afterWords(argv, wrapper)
    const inner = from === null ? null : innerFrom(argv, from, wrapper)
    if (inner !== null) return inner
  }
  return null
}

/** Behind the words that must stand there; null: they do not. */
function afterWords(argv: readonly string[], { words }: Wrapper): number | null {
  if (words === undefined) return 1
  for (const count of [2, 1]) if (words.test(argv.slice(1, 1 + count).join(' '))) return 1 + count
  return null
}

function innerFrom(argv: readonly string[], from: number, { valued, before = 0, script, fetches, joins }: Wrapper): Inner | null {
  let left = before
  for (let at = from; at < argv.length; at += 1) {
    const word = argv[at] ?? ''
    if (script?.test(word)) return scriptAt(argv.slice(at + 1), joins === true)
    if (valued.test(word)) at += 1
    else if (!word.startsWith('-') && !/^\w+=/.test(word) && left-- === 0) {
      // A script of a shell lies in a file.
      return script === SHELL.script ? null : { kind: 'command', argv: argv.slice(at), isPackage: fetches === true }
    }
  }
  return null
}

const scriptAt = (words: readonly string[], joins: boolean): Inner =>
  joins ? { kind: 'script', script: words.join(' '), positional: [] } : { kind: 'script', script: words[0] ?? '', positional: words.slice(1) }
