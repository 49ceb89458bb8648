import { basename, resolve } from 'node:path'
import { orNull } from '../../lib/index.ts'
import type { Agent, Candidate, Environment, Harness, ProcessRow, Registered } from '../../model/index.ts'
import { isDead, namedSession, sameProcess } from '../../model/index.ts'
import { HARNESSES } from '../agents/all.ts'
import { words } from './words.ts'
import { type Unwrapped, unwrapped } from './wrappers.ts'

/** First arguments with which any of them works nowhere. */
const ONE_SHOT: readonly string[] = words('--version -v -V --help -h help login logout auth mcp update upgrade doctor agents attach logs completion')

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

const NAMES = new Set(HARNESSES.flatMap(({ program }) => program.names))
const OTHER_NAMES = /^(node|nodejs|(node-)?MainThread|bun|python[\d.]*|codex?-(x86_64|aarch64)-.*|\d+\.\d+\.\d+.*)$/

/** May a process be an agent, by its name (as the kernel has it, 15 characters) or the first words of its command line? */
export function mayBeAgent(name: string, argv: readonly string[] = [], own: readonly Harness[] = []): boolean {
  const isNamed = (called: string): boolean => NAMES.has(called) || own.some(({ program }) => program.names.includes(called))
  return isNamed(nameOf(name)) || OTHER_NAMES.test(name) || argv.slice(0, 3).some((word) => isNamed(nameOf(titleWords(word)[0] ?? '')))
}

/** Packagers hide the real program behind a wrapper: `.opencode`, `.claude-wrapped`; npm calls Claude's `claude.exe`. */
const nameOf = (path: string): string => basename(path).replace(/^\.|-wrapped$|\.exe$/g, '')

/** What the harnesses say about those of their processes that may be there. What cannot be read, or makes no sense, is left out. */
export const registeredAgents = (env: Environment, mayBeThere: (pid: number) => boolean): Registered[] =>
  HARNESSES.flatMap(({ name, registry }) =>
    (orNull(() => registry?.read(env, mayBeThere)) ?? []).flatMap(({ cwd, ...entry }) => (cwd === null ? [] : [{ harness: name, cwd, ...entry }])),
  )

type Found = Candidate & { readonly harness: Harness; readonly args: readonly string[]; readonly entries: readonly Registered[] }

/** Those that are an agent CLI at work, each with the processes that only launched it. `own`: harnesses that the user defined. */
export function agentsAmong(candidates: readonly Candidate[], registered: readonly Registered[], own: readonly Harness[] = []): Agent[] {
  const harnesses = [...HARNESSES, ...own]
  const recognised = candidates.flatMap((one) => recognise(one, registered, harnesses) ?? [])
  const found = new Map(recognised.map((agent) => [agent.row.pid, agent]))
  const launchers = new Set(recognised.map((agent) => launcherOf(agent, found)))
  const innermost = recognised.filter((agent) => !launchers.has(agent))
  return innermost.map((agent) => {
    const { harness, row, argv, cwd, args, entries } = agent
    const named = namedSession(harness, args)
    return {
      harness: harness.name,
      row,
      launchers: launchersOf(agent, found),
      argv,
      cwd,
      nativeId: provenId(entries, named) ?? writtenId(agent, named),
      named,
    }
  })
}

/** One that has several sessions (those of its own agents, too) is in the one that it was started for, if that is among them. */
function provenId(entries: readonly Registered[], named: string | null): string | null {
  const ids = [...new Set(entries.flatMap(({ nativeId }) => nativeId ?? []))]
  return ids.length === 1 ? (ids[0] ?? null) : named !== null && ids.includes(named) ? named : null
}

/** Of a harness that keeps the file of its session open: the one that it writes. */
function writtenId({ harness, writes }: Found, named: string | null): string | null {
  const ids = harness.capture.flatMap((source) =>
    source.from === 'open-file' && writes !== undefined ? writes(source.path).flatMap((path) => source.path.exec(path)?.[1] ?? []) : [],
  )
  const [first = null, ...more] = new Set(ids)
  return more.length === 0 ? first : named !== null && ids.includes(named) ? named : null
}

/** What the harness itself says comes first. */
function recognise(candidate: Candidate, registered: readonly Registered[], harnesses: readonly Harness[]): Found | null {
  const entries = registered.filter(({ process }) => sameProcess(process, candidate.row))
  if (isDead(candidate.row.state) || entries.some(({ service }) => service)) return null
  const program = programOf(candidate, harnesses)
  const harness = harnesses.find(({ name }) => name === entries[0]?.harness) ?? program?.harness
  if (harness === undefined) return null
  const args = program?.args ?? candidate.argv.slice(1)
  const cwd = workplace(harness, args, candidate.cwd ?? entries[0]?.cwd ?? null)
  return isIdle(harness, args) || isIdleSpare(args, cwd) ? null : { ...candidate, harness, args, cwd, entries }
}

/** Told on its command line, it works there. */
function workplace({ program: { dirOptions = [] } }: Harness, args: readonly string[], cwd: string | null): string | null {
  const at = args.findLastIndex((word) => dirOptions.includes(word.split('=', 1)[0] ?? ''))
  const named = at < 0 ? undefined : args[at]?.includes('=') ? args[at]?.slice(args[at].indexOf('=') + 1) : args[at + 1]
  return named === undefined || cwd === null ? cwd : resolve(cwd, named)
}

/** Is this process a program of that harness, at work or not? */
export const isProgramOf = (candidate: Candidate, name: string): boolean => programOf(candidate, HARNESSES)?.harness.name === name

type Program = { readonly harness: Harness; readonly args: readonly string[] }

/**
 * Anybody can start anything under any argv[0], or through a link of any name. So a title counts only for a file that can be that agent: one in
 * the harness's own folder, one whose path has its name, or an interpreter, if the kernel's own name agrees or the command line was wiped.
 * One whose executable may not be seen is believed.
 */
function programOf({ exe, argv, row }: Candidate, harnesses: readonly Harness[]): Program | null {
  const path = exe?.replace(/ \(deleted\)$/, '') ?? null
  const [called = '', ...said] = titleWords(argv[0] ?? '')
  const args = [...said, ...argv.slice(1)]
  if (TOOLS.test(called)) return null
  const native = path === null ? undefined : harnesses.find(({ program }) => program.names.includes(nameOf(path)) || program.exe?.test(path))
  if (native !== undefined) return { harness: native, args }
  const isCalled = ({ names, packages = [] }: Harness['program']): boolean =>
    names.includes(called) &&
    (path === null ||
      (names.includes(nameOf(row.name)) && (path.includes(called) || isInterpreter(path))) ||
      (isRuntime(path) && isWiped(argv)) ||
      packages.some((name) => isOwn(path, name)))
  const titled = harnesses.find(({ program }) =>
    program.ambiguous ? isRuntime(path) && (isCalled(program) || program.names.includes(row.name)) : isCalled(program),
  )
  return scriptOf(path, argv, harnesses) ?? (titled === undefined ? null : { harness: titled, args })
}

/** So does a runtime that gives itself a title: nothing is left of what it was told. */
const isWiped = ([, ...rest]: readonly string[]): boolean => rest.length > 0 && rest.every((word) => word === '')

/** The agents that a command line starts, each with what that is told, whatever only prepares them. A script may start several. */
export function commandsOf(argv: readonly string[], own: readonly Harness[] = []): Program[] {
  const harnesses = [...HARNESSES, ...own]
  return unwrapped(argv).flatMap((inner) => startedBy(inner, harnesses) ?? [])
}

/** The one agent that a command line starts; null: none that we know, or several. */
export function commandOf(argv: readonly string[], own: readonly Harness[] = []): Program | null {
  const [first = null, ...more] = commandsOf(argv, own)
  return more.length > 0 ? null : first
}

/** What a command line tells its agent. */
export const argumentsOf = (argv: readonly string[], harness: Harness, own: readonly Harness[] = []): readonly string[] => {
  const program = commandOf(argv, own)
  return program?.harness.name === harness.name ? program.args : argv.slice(1)
}

function startedBy({ argv, isPackage }: Unwrapped, harnesses: readonly Harness[]): Program | null {
  const [program = '', ...args] = argv
  const harness = harnesses.find(
    ({ commands, program: { ambiguous, packages = [] } }) =>
      (ambiguous !== true && commands.includes(basename(program))) || (isPackage && packages.includes(program.replace(/(?!^)@[^/]*$/, ''))),
  )
  return harness === undefined ? scriptOf(null, argv, harnesses) : { harness, args }
}

/** A program that renames itself puts words into its argv[0] (`claude bg-spare`); a path may have spaces of its own. */
function titleWords(first: string): string[] {
  const [program = '', ...said] = first.startsWith('/') ? [first] : words(first)
  return [nameOf(program), ...said]
}

const isInterpreter = (exe: string): boolean => INTERPRETERS.some(({ is }) => is.test(basename(exe)))
const isRuntime = (exe: string | null): boolean => exe !== null && /^(node|nodejs|bun)$/.test(basename(exe))

function scriptOf(exe: string | null, argv: readonly string[], harnesses: readonly Harness[]): Program | null {
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
  const harness = harnesses.find(
    ({ program: { names, packages = [], ambiguous } }) =>
      (!ambiguous && names.includes(basename(script))) || packages.some((name) => isOwn(script, name)),
  )
  return harness === undefined ? null : { harness, args: argv.slice(at + 1) }
}

/** What a package depends on lies inside it too, and is another program. */
function isOwn(script: string, name: string): boolean {
  const at = script.lastIndexOf(`/${name}/`)
  return at >= 0 && !script.includes('/node_modules/', at + 1)
}

/** It serves others, or says something, and is over: no session. */
export function isIdle({ program: { idle = [], valued = [], works = [] } }: Harness, args: readonly string[]): boolean {
  let at = 0
  while (valued.includes(args[at]?.split('=', 1)[0] ?? '')) at += args[at]?.includes('=') ? 1 : 2
  const first = args[at] ?? ''
  return (ONE_SHOT.includes(first) && !works.includes(first)) || idle.includes(first) || args.includes('--cline-hub-daemon')
}

/** The first arguments with which it works nowhere, as a shell can compare them. */
export const idleWords = ({ program: { idle = [], works = [] } }: Harness): string[] => [...ONE_SHOT.filter((word) => !works.includes(word)), ...idle]

/** Claude Code keeps one waiting; it keeps its command line when a session claims it, and goes to work elsewhere. */
const isIdleSpare = ([first = '']: readonly string[], cwd: string | null): boolean =>
  /^(--)?bg-spare$/.test(first) && /^\/tmp\/cc-daemon-[^/]+\/(.*\/)?spare\b/.test(cwd ?? '')

/** One that its harness lists as a session is more than a launcher. */
function launcherOf(agent: Found, found: ReadonlyMap<number, Found>): Found | null {
  const parent = found.get(agent.row.parent)
  if (parent === undefined || parent.harness !== agent.harness || parent.entries.length > 0 || parent.row.ticks > agent.row.ticks) return null
  return textOf(parent.args) === textOf(agent.args) ? parent : null
}

/** A command line that was overwritten ends in empty words. */
const textOf = (args: readonly string[]): string => args.join('\0').replace(/\0+$/, '')

const MAX_LAUNCHERS = 8
function launchersOf(agent: Found, found: ReadonlyMap<number, Found>, most = MAX_LAUNCHERS): ProcessRow[] {
  const launcher = most > 0 ? launcherOf(agent, found) : null
  return launcher === null ? [] : [...launchersOf(launcher, found, most - 1), launcher.row]
}
