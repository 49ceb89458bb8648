import { basename, join } from 'node:path'
import type { Asking, Environment, Harness, HarnessDaemon, HarnessDaemonRules, ProcessRow, ServedSession } from '../../model/index.ts'
import { sameProcess, saying } from '../../model/index.ts'
import { claude } from '../agents/claude.ts'
import { cline } from '../agents/cline.ts'
import { codex } from '../agents/codex.ts'
import { folderOf } from '../recognise/disk.ts'
import { words } from '../recognise/words.ts'
import { claudeRoster, clineSessions, codexThreads, isThreadOfAppServer } from './served.ts'

/** What we know of the daemons that harnesses keep for all of their sessions: how to tell one, whom it serves, how it is ended. */
type DaemonRule = {
  readonly of: Harness
  readonly what: string
  readonly is: (argv: readonly string[]) => boolean
  /** One that works for it, and goes on when it dies. */
  readonly isWorker?: (argv: readonly string[]) => boolean
  /** Does a command with these arguments work through it? */
  readonly isClient?: (args: readonly string[]) => boolean
  /** Where it keeps what it knows: there is one daemon for each. */
  readonly home: (env: Environment) => string
  readonly served: (home: string, argv: readonly string[]) => ServedSession[] | null
  readonly stop: (argv: readonly string[]) => string[] | null
  /** The session in the daemon, now or once, that has started what has this environment; or the beginning of its first id. */
  readonly backgroundId: (env: Environment, home: string) => string | null
}

const RULES: readonly DaemonRule[] = [
  {
    of: claude,
    what: "Claude Code's daemon",
    is: ([program = '', verb, action]) => basename(program).startsWith('claude') && verb === 'daemon' && action === 'run',
    isWorker: ([program = '', option]) => basename(program).startsWith('claude') && option === '--bg-pty-host',
    home: (env) => folderOf(env, 'CLAUDE_CONFIG_DIR', '.claude'),
    served: (home, [program = 'claude']) => claudeRoster(join(home, 'daemon', 'roster.json'), program),
    stop: ([program = 'claude']) => [program, 'daemon', 'stop', '--any'],
    // A folder for each, called by the beginning of the session's id; what the same session starts outside of the daemon does not get it.
    backgroundId: (env) => /^[0-9a-f]{8}$/.exec(basename(env['CLAUDE_JOB_DIR'] ?? ''))?.[0] ?? null,
  },
  {
    of: codex,
    what: "Codex's app server",
    is: (argv) =>
      basename(argv[0] ?? '') === 'codex' && argv[1] === 'app-server' && (argv.includes('--managed-daemon') || argv.includes('pid-update-loop')),
    isClient: (args) => saying(codex, args, words('exec e review --no-daemon mcp login logout app-server')).length === 0,
    home: (env) => folderOf(env, 'CODEX_HOME', '.codex'),
    served: codexThreads,
    stop: ([program = 'codex']) => [program, 'app-server', 'daemon', 'stop'],
    backgroundId: ({ CODEX_THREAD_ID: id = '' }, home) => (id !== '' && isThreadOfAppServer(home, id) ? id : null),
  },
  {
    of: cline,
    what: "Cline's hub",
    is: (argv) => argv.includes('--cline-hub-daemon'),
    home: (env) => folderOf(env, 'CLINE_DIR', '.cline'),
    served: (home) => clineSessions(join(home, 'data', 'sessions')),
    stop: () => null,
    backgroundId: () => null,
  },
]

/**
 * Those of the rows that are a shared daemon, or speak for one that is not among them: its workers. Names are looked at first: a command
 * line costs a read.
 */
export function findHarnessDaemons(
  rows: readonly ProcessRow[],
  argumentsOf: (pid: number) => readonly string[],
  environmentOf: (pid: number) => Environment,
): HarnessDaemon[] {
  const lines = rows.filter(({ name }) => NAMES.test(name)).map((row) => ({ row, argv: argumentsOf(row.pid) }))
  const told = (line: Line): Told => ({ ...line, env: environmentOf(line.row.pid) })
  return RULES.flatMap((rule) => {
    const daemons = lines.filter(({ argv }) => rule.is(argv)).map(told)
    const homes = new Set(daemons.map(({ env }) => rule.home(env)))
    const workers = lines.filter(({ argv }) => rule.isWorker?.(argv)).map(told)
    const alone = new Map(workers.filter(({ env }) => !homes.has(rule.home(env))).map((worker) => [rule.home(worker.env), worker]))
    const spokenFor = [...alone.values()].map((worker) => read(rule, { ...worker, argv: [programOf(worker.argv)] }))
    return [...daemons.map((daemon) => read(rule, daemon)), ...spokenFor.map((daemon) => withoutDaemon(daemon, rows))]
  })
}
type Line = { readonly row: ProcessRow; readonly argv: readonly string[] }
type Told = Line & { readonly env: Environment }

function read({ of, what, home, served, stop }: DaemonRule, { row, argv, env }: Told): HarnessDaemon {
  return { row, what, harness: of.name, served: orUnknown(() => served(home(env), argv)), stop: asCommand(stop(argv)) }
}

/** A worker's own name says little; what it was told to run is the harness. */
const programOf = (argv: readonly string[]): string => argv[argv.indexOf('--') + 1] ?? 'claude'

/** Nobody starts its dead again, and nobody can be told to end it. */
const withoutDaemon = ({ served, ...daemon }: HarnessDaemon, rows: readonly ProcessRow[]): HarnessDaemon => ({
  ...daemon,
  worker: true,
  served: served?.filter(({ processes }) => processes.some((one) => rows.some((row) => sameProcess(row, one)))) ?? null,
  stop: null,
})
const NAMES = /^(claude|codex|cline|node|MainThread|bun)/
const asCommand = (command: string[] | null): Asking | null => (command === null ? null : { kind: 'command', command })

export const harnessDaemonRules: HarnessDaemonRules = {
  variables: new Map(RULES.map(({ of }) => [of.name, of.idVariable])),
  backgroundId: (harness, env) => {
    const rule = RULES.find(({ of }) => of.name === harness)
    return rule === undefined ? null : orUnknown(() => rule.backgroundId(env, rule.home(env)))
  },
  worksThrough: ([program = '', ...args]) =>
    RULES.find(({ of, isClient }) => basename(program).startsWith(of.name) && isClient?.(args) === true)?.of.name ?? null,
  handsOver: ([program = '', ...args]) =>
    RULES.find(({ of }) => basename(program).startsWith(of.name) && saying(of, args, of.daemonizes).length > 0)?.of.name ?? null,
}

/** A registry that cannot be read, or says something new, tells nothing. */
function orUnknown<T>(read: () => T | null): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
