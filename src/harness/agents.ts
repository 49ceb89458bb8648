import { basename, resolve } from 'node:path'
import type { Agent, Candidate, ProcessRow, Registered } from '../model/index.ts'
import { isDead, sameProcess } from '../model/index.ts'

export { registeredAgents } from './registries.ts'

/** How to tell an agent CLI, and when it is none at work. Names are those of its executable, of argv[0], or of its script. */
type AgentRule = {
  readonly harness: string
  readonly names: readonly string[]
  /** Executables that carry a version or a platform in their name. */
  readonly exe?: RegExp
  /** Folders that only its own scripts are in. */
  readonly packages?: readonly string[]
  /** First arguments with which it serves others, or only says something. */
  readonly idle?: readonly string[]
  /** First arguments that mean something else to it than to the others. */
  readonly works?: readonly string[]
  /** Options with a value that are given before those. */
  readonly valued?: readonly string[]
  /** Options that name the directory it works in, whatever its own is. */
  readonly dirOptions?: readonly string[]
  /** A word that others use too: believed of an executable, or of node and bun that go by it, but of no script. */
  readonly ambiguous?: true
}

const words = (text: string): readonly string[] => text.split(' ')

/** VS Code is `code`, and Coder's `coder` serves workspaces. */
const NOT_EVERY_CODE = words('agent server ssh port-forward gitssh gitaskpass provisioner mcp-server app-server')

const RULES: readonly AgentRule[] = [
  {
    harness: 'claude',
    names: ['claude'],
    exe: /\/claude\/versions\/\d+\.\d+\.\d+[^/]*$/,
    packages: ['@anthropic-ai/claude-code', '@anthropic-ai/claude-agent-sdk'],
    idle: words('daemon bg-pty-host --bg-pty-host --claude-in-chrome-mcp --chrome-native-host stop respawn rm install setup-token plugin'),
  },
  {
    harness: 'codex',
    names: ['codex'],
    exe: /\/codex-(x86_64|aarch64)-[^/]+$/,
    packages: ['@openai/codex'],
    idle: words('app-server mcp-server exec-server sandbox debug archive delete queue'),
    valued: words('-c --config --enable --disable -p --profile -C --cd'),
    dirOptions: words('-C --cd'),
  },
  { harness: 'code', names: ['coder'], exe: /\/code-(x86_64|aarch64)-[^/]+$/, packages: ['@just-every/code'], idle: NOT_EVERY_CODE },
  { harness: 'gemini', names: ['gemini'], packages: ['@google/gemini-cli'] },
  { harness: 'qwen', names: ['qwen'], packages: ['@qwen-code/qwen-code'], idle: ['sessions', 'serve'] },
  { harness: 'opencode', names: ['opencode'], packages: ['opencode-ai'], idle: ['serve', 'acp', 'web'] },
  { harness: 'kilo', names: ['kilo'], packages: ['@kilocode/cli'], idle: ['serve', 'acp', 'daemon', 'web'] },
  { harness: 'copilot', names: ['copilot'], packages: ['@github/copilot'] },
  { harness: 'pi', names: ['pi'], packages: words('@earendil-works/pi-coding-agent @mariozechner/pi-coding-agent'), ambiguous: true },
  { harness: 'kimi', names: ['kimi', 'kimi-code'], packages: ['@moonshot-ai/kimi-code'] },
  { harness: 'goose', names: ['goose'], idle: ['acp', 'web'] },
  { harness: 'droid', names: ['droid'], packages: ['@factory/cli'], idle: ['daemon'] },
  { harness: 'cline', names: ['cline'] },
  { harness: 'cn', names: ['cn'], packages: ['@continuedev/cli'] },
  { harness: 'grok', names: ['grok'], packages: ['@xai-official/grok'] },
  { harness: 'amp', names: ['amp'], packages: ['@ampcode/cli', '@sourcegraph/amp'] },
  { harness: 'auggie', names: ['auggie'], packages: ['@augmentcode/auggie'] },
  { harness: 'cursor-agent', names: ['cursor-agent'], packages: ['cursor-agent/versions'], idle: ['worker'] },
  { harness: 'aider', names: ['aider'], works: ['-v'] },
]

/** First arguments with which any of them works nowhere. */
const ONE_SHOT = words('--version -v -V --help -h help login logout auth mcp update upgrade doctor agents attach logs completion')

/** Names under which an agent's executable is its own tool: the search built into Claude Code, the sandbox of Codex. */
const TOOLS = /^(rg|ugrep|bfs|apply_?patch|codex-linux-sandbox|codex-execve-wrapper)$/

const NODE_VALUED = /^(-r|--require|--import|--(experimental-)?loader|-C|--conditions|--env-file|--disable-warning|--title|--cwd|--preload)$/
/** Who runs scripts: what it runs inline is no script, and some options and words come before one. */
const INTERPRETERS: readonly { readonly is: RegExp; readonly inline: RegExp; readonly valued?: RegExp; readonly filler?: RegExp }[] = [
  { is: /^(sh|bash|dash)$/, inline: /^-[a-zA-Z]*[cs]$/, valued: /^([-+][oO]|--rcfile|--init-file)$/ },
  { is: /^(node|nodejs|bun)$/, inline: /^(-e|-p|-pe|--eval|--print)$/, valued: NODE_VALUED, filler: /^run$/ },
  { is: /^python[\d.]*$/, inline: /^-[a-zA-Z]*c$/, valued: /^-[WX]$/ },
  { is: /^env$/, inline: /^-S/, valued: /^-[uC]$/, filler: /^\w+=/ },
]

const NAMES = new Set(RULES.flatMap(({ names }) => names))
const OTHER_NAMES = /^(node|nodejs|(node-)?MainThread|bun|python[\d.]*|codex?-(x86_64|aarch64)-.*|\d+\.\d+\.\d+.*)$/

/** May a process be an agent, by its name (as the kernel has it, 15 characters) or the first words of its command line? */
export const mayBeAgent = (name: string, argv: readonly string[] = []): boolean =>
  NAMES.has(nameOf(name)) || OTHER_NAMES.test(name) || argv.slice(0, 3).some((word) => NAMES.has(nameOf(titleWords(word)[0] ?? '')))

/** Packagers hide the real program behind a wrapper: `.opencode`, `.claude-wrapped`; npm calls Claude's `claude.exe`. */
const nameOf = (path: string): string => basename(path).replace(/^\.|-wrapped$|\.exe$/g, '')

type Found = Candidate & { readonly harness: string; readonly args: readonly string[]; readonly entry: Registered | undefined }

/** Those that are an agent CLI at work, each with the processes that only launched it. */
export function agentsAmong(candidates: readonly Candidate[], registered: readonly Registered[]): Agent[] {
  const recognised = candidates.flatMap((one) => recognise(one, registered) ?? [])
  const found = new Map(recognised.map((agent) => [agent.row.pid, agent]))
  const launchers = new Set(recognised.map((agent) => launcherOf(agent, found)))
  const innermost = recognised.filter((agent) => !launchers.has(agent))
  return innermost.map((agent) => {
    const { harness, row, argv, cwd, args, entry } = agent
    return { harness, row, launchers: launchersOf(agent, found), argv, cwd, nativeId: entry?.nativeId ?? null, named: nativeIdIn(args) }
  })
}

/** What the harness itself says comes first. */
function recognise(candidate: Candidate, registered: readonly Registered[]): Found | null {
  const entry = registered.find(({ process }) => sameProcess(process, candidate.row))
  if (isDead(candidate.row.state) || entry?.service) return null
  const program = programOf(candidate)
  const harness = entry?.harness ?? program?.rule.harness
  if (harness === undefined) return null
  const args = program?.args ?? candidate.argv.slice(1)
  const cwd = workplace(harness, args, candidate.cwd ?? entry?.cwd ?? null)
  return isIdle(harness, args) || isIdleSpare(args, cwd) ? null : { ...candidate, harness, args, cwd, entry }
}

/** Told on its command line, it works there. */
function workplace(harness: string, args: readonly string[], cwd: string | null): string | null {
  const options = RULES.find((rule) => rule.harness === harness)?.dirOptions ?? []
  const at = args.findLastIndex((word) => options.includes(word.split('=', 1)[0] ?? ''))
  const named = at < 0 ? undefined : args[at]?.includes('=') ? args[at]?.slice(args[at].indexOf('=') + 1) : args[at + 1]
  return named === undefined || cwd === null ? cwd : resolve(cwd, named)
}

type Program = { readonly rule: AgentRule; readonly args: readonly string[] }

function programOf({ exe, argv, row }: Candidate): Program | null {
  const path = exe?.replace(/ \(deleted\)$/, '') ?? null
  const [called = '', ...said] = titleWords(argv[0] ?? '')
  const args = [...said, ...argv.slice(1)]
  if (TOOLS.test(called)) return null
  const native = path === null ? undefined : RULES.find(({ names, exe: pattern }) => names.includes(nameOf(path)) || pattern?.test(path))
  if (native !== undefined) return { rule: native, args }
  const titled = RULES.find(({ names, ambiguous }) =>
    ambiguous ? isRuntime(path) && (names.includes(called) || names.includes(row.name)) : names.includes(called),
  )
  return scriptOf(path, argv) ?? (titled === undefined ? null : { rule: titled, args })
}

/** A program that renames itself puts words into its argv[0] (`claude bg-spare`); a path may have spaces of its own. */
function titleWords(first: string): string[] {
  const [program = '', ...said] = first.startsWith('/') ? [first] : words(first)
  return [nameOf(program), ...said]
}

const isRuntime = (exe: string | null): boolean => exe !== null && /^(node|nodejs|bun)$/.test(basename(exe))

function scriptOf(exe: string | null, argv: readonly string[]): Program | null {
  const interpreter = INTERPRETERS.find(({ is }) => is.test(basename(exe ?? '')) || is.test(basename(argv[0] ?? '')))
  if (interpreter === undefined) return null
  const { inline, valued, filler } = interpreter
  let at = 1
  for (; at < argv.length; at += 1) {
    const word = argv[at] ?? ''
    if (inline.test(word)) return null
    if (valued?.test(word)) at += 1
    else if (!word.startsWith('-') && !filler?.test(word)) break
  }
  const script = argv[at] ?? ''
  const rule = RULES.find(
    ({ names, packages = [], ambiguous }) => (!ambiguous && names.includes(basename(script))) || packages.some((name) => isOwn(script, name)),
  )
  return rule === undefined ? null : { rule, args: argv.slice(at + 1) }
}

/** What a package depends on lies inside it too, and is another program. */
function isOwn(script: string, name: string): boolean {
  const at = script.lastIndexOf(`/${name}/`)
  return at >= 0 && !script.includes('/node_modules/', at + 1)
}

function isIdle(harness: string, args: readonly string[]): boolean {
  const { idle = [], valued = [], works = [] } = RULES.find((rule) => rule.harness === harness) ?? {}
  let at = 0
  while (valued.includes(args[at]?.split('=', 1)[0] ?? '')) at += args[at]?.includes('=') ? 1 : 2
  const first = args[at] ?? ''
  return (ONE_SHOT.includes(first) && !works.includes(first)) || idle.includes(first) || args.includes('--cline-hub-daemon')
}

/** Claude Code keeps one waiting; it keeps its command line when a session claims it, and goes to work elsewhere. */
const isIdleSpare = ([first = '']: readonly string[], cwd: string | null): boolean =>
  /^(--)?bg-spare$/.test(first) && /^\/tmp\/cc-daemon-[^/]+\/(.*\/)?spare\b/.test(cwd ?? '')

/** One that its harness lists as a session is more than a launcher. */
function launcherOf(agent: Found, found: ReadonlyMap<number, Found>): Found | null {
  const parent = found.get(agent.row.parent)
  if (parent === undefined || parent.harness !== agent.harness || parent.entry !== undefined || parent.row.ticks > agent.row.ticks) return null
  return textOf(parent.args) === textOf(agent.args) ? parent : null
}

/** A command line that was overwritten ends in empty words. */
const textOf = (args: readonly string[]): string => args.join('\0').replace(/\0+$/, '')

const MAX_LAUNCHERS = 8
function launchersOf(agent: Found, found: ReadonlyMap<number, Found>, most = MAX_LAUNCHERS): ProcessRow[] {
  const launcher = most > 0 ? launcherOf(agent, found) : null
  return launcher === null ? [] : [...launchersOf(launcher, found, most - 1), launcher.row]
}

const ID = /^((T-)?[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|ses_\w+|session_[\w-]+|\d{8}_\d+)$/i
const RESUME = words('--resume -r --session -s -S resume continue')
/** Names, numbers and `latest` are no ids; a fork gets an id that nobody has told. */
const nativeIdIn = (args: readonly string[]): string | null =>
  idAfter(['--session-id'], args) ?? (args.includes('--fork-session') || args.includes('--fork') ? null : idAfter(RESUME, args))

function idAfter(options: readonly string[], args: readonly string[]): string | null {
  const values = args.flatMap((word, at) => {
    const [name = '', value = args[at + 1] ?? ''] = word.split('=', 2)
    return options.includes(name) ? [basename(value, '.jsonl')] : []
  })
  return values.find((value) => ID.test(value)) ?? null
}
