import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Environment, ProcessRow, ServedSession, SharedDaemon } from '../model/index.ts'

/** What we know of the daemons that harnesses keep for all of their sessions: how to tell one, whom it serves, how it is ended. */
type DaemonRule = {
  readonly what: string
  readonly is: (argv: readonly string[]) => boolean
  readonly served: (env: Environment, argv: readonly string[]) => ServedSession[] | null
  readonly stop: (argv: readonly string[]) => string[] | null
}

const RULES: readonly DaemonRule[] = [
  {
    what: "Claude Code's daemon",
    is: ([program = '', verb, action]) => basename(program).startsWith('claude') && verb === 'daemon' && action === 'run',
    served: (env, [program = 'claude']) => claudeRoster(join(folder(env, 'CLAUDE_CONFIG_DIR', '.claude'), 'daemon', 'roster.json'), program),
    stop: ([program = 'claude']) => [program, 'daemon', 'stop', '--any'],
  },
  {
    what: "Codex's app server",
    is: (argv) =>
      basename(argv[0] ?? '') === 'codex' && argv[1] === 'app-server' && (argv.includes('--managed-daemon') || argv.includes('pid-update-loop')),
    served: (env) => codexThreads(join(folder(env, 'CODEX_HOME', '.codex'), 'app-server-daemon', 'daemon.pid')),
    stop: ([program = 'codex']) => [program, 'app-server', 'daemon', 'stop'],
  },
  {
    what: "Cline's hub",
    is: (argv) => argv.includes('--cline-hub-daemon'),
    served: (env) => clineSessions(join(folder(env, 'CLINE_DIR', '.cline'), 'data', 'sessions')),
    stop: () => null,
  },
]

/** Those of the rows that are a shared daemon. Names are looked at first: a command line costs a read. */
export function sharedDaemons(
  rows: readonly ProcessRow[],
  argumentsOf: (pid: number) => readonly string[],
  environmentOf: (pid: number) => Environment,
): SharedDaemon[] {
  return rows.flatMap((row) => {
    if (!NAMES.test(row.name)) return []
    const argv = argumentsOf(row.pid)
    const rule = RULES.find(({ is }) => is(argv))
    if (rule === undefined) return []
    return [{ row, what: rule.what, served: orUnknown(() => rule.served(environmentOf(row.pid), argv)), stop: rule.stop(argv) }]
  })
}
const NAMES = /^(claude|codex|cline|node|MainThread|bun)/

/** A registry that cannot be read, or says something new, tells nothing. */
function orUnknown(read: () => ServedSession[] | null): ServedSession[] | null {
  try {
    return read()
  } catch {
    return null
  }
}

const folder = (env: Environment, variable: string, name: string): string => env[variable] || join(env['HOME'] ?? '/nonexistent', name)

type Roster = { workers: Record<string, { pid: number; replPid?: number; cwd: string; startedAt?: number }> }

function claudeRoster(path: string, program: string): ServedSession[] {
  const { workers } = JSON.parse(readFileSync(path, 'utf8')) as Roster
  return Object.entries(workers).map(([short, { cwd, pid, replPid, startedAt }]) => {
    if (typeof cwd !== 'string' || typeof pid !== 'number') throw new Error(`worker ${short} of ${path} makes no sense`)
    return { dir: cwd, since: startedAt ?? null, pids: replPid === undefined ? [pid] : [pid, replPid], stop: [program, 'stop', short] }
  })
}

/** A thread is served by whoever has its rollout open; the first line of that tells where it works. */
function codexThreads(pidFile: string): ServedSession[] {
  const { pid } = JSON.parse(readFileSync(pidFile, 'utf8')) as { pid: number }
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`))
  const rollouts = [...new Set(open.filter((path) => /\/rollout-[^/]*\.jsonl$/.test(path)))]
  return rollouts.map((path) => {
    const { timestamp, payload } = JSON.parse(firstLine(path)) as { timestamp?: string; payload: { cwd: string } }
    return { dir: payload.cwd, since: timeOf(timestamp), pids: [], stop: null }
  })
}

const timeOf = (text: string | undefined): number | null => (text === undefined || Number.isNaN(Date.parse(text)) ? null : Date.parse(text))

/** The rest may be long. */
function firstLine(path: string): string {
  const fd = openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(64 * 1024)
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0)).split('\n', 1)[0] ?? ''
  } finally {
    closeSync(fd)
  }
}

/** A file may be closed while we look. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

function clineSessions(root: string): ServedSession[] {
  return readdirSync(root).flatMap((id) => {
    const { status, cwd, started_at: began } = JSON.parse(readFileSync(join(root, id, `${id}.json`), 'utf8')) as Record<string, string>
    return status === 'running' ? [{ dir: cwd ?? '', since: timeOf(began), pids: [], stop: null }] : []
  })
}
