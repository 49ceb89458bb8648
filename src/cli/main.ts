import { type HookHelp, hookHelp, openWorld, ownArguments, type World } from '../app/index.ts'
import { exitCode, Problem } from '../model/index.ts'
import { daemonVerb } from './daemon.ts'
import { endVerb, finishVerb, followVerb, stopVerb, waitVerb } from './end.ts'
import { HELP } from './help.ts'
import { hooksVerb } from './hooks.ts'
import { leftVerb } from './join.ts'
import { locksVerb, lockVerb, unlockVerb } from './lock.ts'
import { mcpVerb } from './mcp.ts'
import { type Parsed, parse, type Spec } from './options.ts'
import { print, printJson, say, sayProblem, sayProblemJson, write } from './out.ts'
import { attachVerb, eventsVerb, logsVerb, lsVerb, statusVerb, treeVerb } from './see.ts'
import { sendVerb } from './send.ts'
import { serviceVerb } from './service.ts'
import { adoptVerb, CHOICES, restartVerb, resumeVerb, runVerb } from './start.ts'
import { inboxVerb, messageVerb, rebindVerb, reportVerb, siblingsVerb, whoamiVerb } from './talk.ts'
import { taskVerb } from './task.ts'
import { doctorVerb, pruneVerb, reconcileVerb, resolveVerb } from './tend.ts'

declare const HOLDFAST_VERSION: string

/** `command`: its first plain word begins a command, whose options are not ours. */
type Verb = { readonly run: (world: World, parsed: Parsed) => Promise<number>; readonly options: Spec; readonly command?: boolean }
const VERBS: Readonly<Record<string, Verb>> = {
  run: { run: runVerb, options: { ...CHOICES, session: 'value', name: 'value', worktree: 'maybe' }, command: true },
  resume: { run: resumeVerb, options: { ...CHOICES, last: 'flag' } },
  restart: { run: restartVerb, options: CHOICES },
  adopt: { run: adoptVerb, options: { session: 'value', name: 'value', share: 'flag', force: 'flag' } },
  attach: { run: attachVerb, options: {} },
  send: { run: sendVerb, options: { force: 'flag' } },
  stop: { run: stopVerb, options: { all: 'flag', grace: 'value', suspect: 'flag', outside: 'flag' } },
  wait: { run: waitVerb, options: { timeout: 'value' } },
  ls: { run: lsVerb, options: { all: 'flag', unmanaged: 'flag', watch: 'flag' } },
  status: { run: statusVerb, options: {} },
  tree: { run: treeVerb, options: { suspects: 'flag' } },
  events: { run: eventsVerb, options: { follow: 'flag' } },
  logs: { run: logsVerb, options: { follow: 'flag', lines: 'value' } },
  lock: { run: lockVerb, options: { reason: 'value', pid: 'value', ttl: 'value', check: 'flag' } },
  unlock: { run: unlockVerb, options: { force: 'flag' } },
  locks: { run: locksVerb, options: {} },
  task: { run: taskVerb, options: {}, command: true },
  whoami: { run: whoamiVerb, options: {} },
  siblings: { run: siblingsVerb, options: { session: 'value', here: 'flag' } },
  rebind: { run: rebindVerb, options: { session: 'value', to: 'value' } },
  message: { run: messageVerb, options: { all: 'flag', here: 'flag' } },
  inbox: { run: inboxVerb, options: { wait: 'flag', timeout: 'value', peek: 'flag', session: 'value' } },
  report: { run: reportVerb, options: { result: 'flag' } },
  mcp: { run: mcpVerb, options: {} },
  hooks: { run: hooksVerb, options: {} },
  reconcile: { run: reconcileVerb, options: {} },
  prune: { run: pruneVerb, options: { 'dry-run': 'flag' } },
  resolve: { run: resolveVerb, options: { gone: 'flag' } },
  daemon: { run: daemonVerb, options: { by: 'value' } },
  service: { run: serviceVerb, options: { force: 'flag' } },
  doctor: { run: doctorVerb, options: { fix: 'flag' } },
  // For the keeper only.
  _finish: { run: finishVerb, options: {} },
  _end: { run: endVerb, options: {} },
  _follow: { run: followVerb, options: {} },
  // For the command that has joined a pane only.
  _left: { run: leftVerb, options: {} },
}

/** These refuse a configuration that makes no sense, and say so themselves. */
const STARTS = ['run', 'resume', 'restart', 'task', 'adopt']

/** One command from its words to its exit code. */
async function main(args: readonly string[]): Promise<number> {
  // Global options may also stand before the verb.
  const first = parse(args, { version: 'flag' }, true)
  const [name, ...rest] = first.command ?? []
  if (first.flags.has('help') || name === 'help') return help(1)
  if (first.flags.has('version') || name === 'version') return version(first.flags.has('json') || rest.includes('--json'))
  if (name === undefined) return help(2)
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
  if (verb === undefined) throw new Problem('usage', `unknown verb ${JSON.stringify(name)}`, { hint: 'holdfast help lists them' })
  const own = parse(rest, verb.options, verb.command)
  const parsed = { ...own, flags: new Set([...first.flags, ...own.flags]), values: new Map([...first.values, ...own.values]) }
  if (parsed.flags.has('help')) return help(1)
  if (parsed.values.get('home') === '') throw new Problem('usage', '--home needs a folder')
  const world = openWorld({ assets: __dirname, home: parsed.values.get('home') })
  try {
    return await verb.run(world, parsed)
  } finally {
    const trouble = world.configTrouble()
    if (trouble !== null && !STARTS.includes(name) && name !== 'doctor' && !name.startsWith('_')) say(`${trouble}; it was left out of account`)
    world.close()
  }
}

function help(fd: 1 | 2): number {
  write(fd, `${HELP}\n`)
  return fd === 1 ? exitCode.done : exitCode.usage
}

function version(json: boolean): number {
  if (json) printJson({ version: HOLDFAST_VERSION, node: process.version })
  else print([`holdfast ${HOLDFAST_VERSION}`])
  return exitCode.done
}

/** Said by the caller, and not to the agent. */
const wantsJson = (args: readonly string[]): boolean => args.slice(0, args.includes('--') ? args.indexOf('--') : undefined).includes('--json')

/** For hook.cjs, which loads this bundle when a hook needs more than it has. */
export const openHookHelp = (home: string): HookHelp => hookHelp(openWorld({ assets: __dirname, home }))

/** Faults of the world are told in a sentence; bugs with their stack. */
if (require.main?.filename === __filename)
  main(ownArguments()).then(
    (code) => {
      process.exitCode = code
    },
    (error: unknown) => {
      if (error instanceof Problem) {
        if (wantsJson(process.argv.slice(2))) sayProblemJson(error)
        else sayProblem(error)
        process.exitCode = error.exitCode
        return
      }
      say(`a bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
      process.exitCode = exitCode.bug
    },
  )
