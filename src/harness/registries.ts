import { readdirSync, readFileSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Environment, Registered } from '../model/index.ts'
import { isSignallable } from '../model/index.ts'

/** A folder in which a harness keeps one `PID.json` for each of its live processes; those that were killed leave theirs behind. */
type Registry = {
  readonly harness: string
  readonly folder: (env: Environment) => string
  readonly start: RegExp
  readonly services: readonly unknown[]
}

const REGISTRIES: readonly Registry[] = [
  {
    harness: 'claude',
    folder: (env) => join(env['CLAUDE_CONFIG_DIR'] || join(homeOf(env), '.claude'), 'sessions'),
    start: /^(\d{1,15})$/,
    services: ['daemon', 'daemon-worker'],
  },
  { harness: 'qwen', folder: (env) => join(homeOf(env), '.qwen', 'sessions'), start: /^[^:]+:(\d{1,15})$/, services: [] },
]

const MAX_FILES = 500
const MAX_BYTES = 64 * 1024

/** What the harnesses say about those of their processes that may be there. What cannot be read, or makes no sense, is left out. */
export const registeredAgents = (env: Environment, mayBeThere: (pid: number) => boolean): Registered[] =>
  REGISTRIES.flatMap((registry) => {
    const folder = registry.folder(env)
    return pidsIn(folder, mayBeThere).flatMap((pid) => entryFrom(registry, pid, fieldsOf(join(folder, `${pid}.json`))) ?? [])
  })

const homeOf = (env: Environment): string => env['HOME'] || '/nonexistent'

/** Next to them lie keys, which are nobody's business. */
function pidsIn(folder: string, mayBeThere: (pid: number) => boolean): number[] {
  const names = orNull(() => readdirSync(folder)) ?? []
  return names
    .flatMap((name) => /^([1-9]\d{0,6})\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .filter(mayBeThere)
    .slice(0, MAX_FILES)
}

type Fields = Readonly<Record<string, unknown>>

/** Only a file is opened: a pipe would make us wait. */
const fieldsOf = (path: string): Fields | null =>
  orNull(() => {
    const stats = statSync(path)
    return stats.isFile() && stats.size <= MAX_BYTES ? (JSON.parse(readFileSync(path, 'utf8')) as Fields | null) : null
  })

function entryFrom({ harness, start, services }: Registry, pid: number, fields: Fields | null): Registered | null {
  if (fields === null || !isSignallable(pid) || (fields['pid'] ?? pid) !== pid) return null
  const { procStart, cwd, sessionId, kind } = fields
  const ticks = Number((typeof procStart === 'string' && start.exec(procStart)?.[1]) || Number.NaN)
  if (Number.isNaN(ticks) || typeof cwd !== 'string' || !isAbsolute(cwd)) return null
  const nativeId = typeof sessionId === 'string' && sessionId !== '' ? sessionId : null
  return { harness, process: { pid, ticks }, cwd, nativeId, service: services.includes(kind) }
}

/** A registry is written by others while we look: whatever fails tells nothing. */
function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}
