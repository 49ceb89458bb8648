import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Asking, DaemonLore, Environment, ProcessRow, ServedSession, SharedDaemon } from '../model/index.ts'
import { claudeRoster, clineSessions, codexThreads, isThreadOfAppServer } from './served.ts'

/** What we know of the daemons that harnesses keep for all of their sessions: how to tell one, whom it serves, how it is ended. */
type DaemonRule = {
  readonly harness: string
  readonly what: string
  readonly is: (argv: readonly string[]) => boolean
  /** The variable by which it tells all that a session starts which session that is. */
  readonly idVariable: string | null
  readonly served: (env: Environment, argv: readonly string[]) => ServedSession[] | null
  readonly stop: (argv: readonly string[]) => string[] | null
  readonly isBackground: (id: string, env: Environment) => boolean
}

const RULES: readonly DaemonRule[] = [
  {
    harness: 'claude',
    what: "Claude Code's daemon",
    is: ([program = '', verb, action]) => basename(program).startsWith('claude') && verb === 'daemon' && action === 'run',
    idVariable: 'CLAUDE_CODE_SESSION_ID',
    served: (env, [program = 'claude']) => claudeRoster(join(claudeFolder(env), 'daemon', 'roster.json'), program),
    stop: ([program = 'claude']) => [program, 'daemon', 'stop', '--any'],
    // It keeps a folder for every job it ever had, by the beginning of the session's id.
    isBackground: (id, env) => existsSync(join(claudeFolder(env), 'jobs', id.slice(0, 8), 'state.json')),
  },
  {
    harness: 'codex',
    what: "Codex's app server",
    is: (argv) =>
      basename(argv[0] ?? '') === 'codex' && argv[1] === 'app-server' && (argv.includes('--managed-daemon') || argv.includes('pid-update-loop')),
    idVariable: 'CODEX_THREAD_ID',
    served: (env) => codexThreads(codexFolder(env)),
    stop: ([program = 'codex']) => [program, 'app-server', 'daemon', 'stop'],
    isBackground: (id, env) => isThreadOfAppServer(codexFolder(env), id),
  },
  {
    harness: 'cline',
    what: "Cline's hub",
    is: (argv) => argv.includes('--cline-hub-daemon'),
    idVariable: null,
    served: (env) => clineSessions(join(folder(env, 'CLINE_DIR', '.cline'), 'data', 'sessions')),
    stop: () => null,
    isBackground: () => true,
  },
]

const folder = (env: Environment, variable: string, name: string): string => env[variable] || join(env['HOME'] ?? '/nonexistent', name)
const claudeFolder = (env: Environment): string => folder(env, 'CLAUDE_CONFIG_DIR', '.claude')
const codexFolder = (env: Environment): string => folder(env, 'CODEX_HOME', '.codex')

/** Those of the rows that are a shared daemon. Names are looked at first: a command line costs a read. */
export function sharedDaemons(
  rows: readonly ProcessRow[],
  argumentsOf: (pid: number) => readonly string[],
  environmentOf: (pid: number) => Environment,
): SharedDaemon[] {
  return rows.flatMap((row): SharedDaemon[] => {
    if (!NAMES.test(row.name)) return []
    const argv = argumentsOf(row.pid)
    const rule = RULES.find(({ is }) => is(argv))
    if (rule === undefined) return []
    const { harness, what } = rule
    return [{ row, what, harness, served: orUnknown(() => rule.served(environmentOf(row.pid), argv)), stop: asCommand(rule.stop(argv)) }]
  })
}
const NAMES = /^(claude|codex|cline|node|MainThread|bun)/
const asCommand = (command: string[] | null): Asking | null => (command === null ? null : { kind: 'command', command })

export const daemonLore: DaemonLore = {
  variables: new Map(RULES.map(({ harness, idVariable }) => [harness, idVariable])),
  isBackground: (harness, id, env) => RULES.some((rule) => rule.harness === harness && orUnknown(() => rule.isBackground(id, env)) === true),
}

/** A registry that cannot be read, or says something new, tells nothing. */
function orUnknown<T>(read: () => T | null): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
