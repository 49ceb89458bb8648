import { join } from 'node:path'
import { parse } from 'smol-toml'
import { HARNESSES, harnessFrom, SPARE, toolPidFilesFrom } from '../../harness/index.ts'
import { FileTrouble, readFile } from '../../lib/index.ts'
import type { Harness, NotifyConfig, SourceSettings, SpareRule, ToolPidFiles, WorkConfig } from '../../model/index.ts'
import { NOTIFY_DEFAULT, NOTIFY_KINDS, Problem, policy, WORK_DEFAULT } from '../../model/index.ts'
import { sourcesFrom, workFrom } from './work-config.ts'

export type Config = {
  /** The shipped list, with what `config.toml` adds (`[spare] add`) and takes away (`drop`), by process name. */
  readonly spares: () => readonly SpareRule[]
  /** Those we ship, and those that `config.toml` describes (`[harness.NAME]`). */
  readonly harnesses: () => readonly Harness[]
  readonly ownHarnesses: () => readonly Harness[]
  /** Files that other tools keep for each of their processes (`[pid_files.NAME]`). */
  readonly toolPidFiles: () => readonly ToolPidFiles[]
  /** The port that the daemon shall have on loopback (`[daemon] port`); null: any. */
  readonly daemonPort: () => number | null
  /** How people are told of what happens (`[notify]`). */
  readonly notify: () => NotifyConfig
  /** How requests are worked on (`[work]`), and where they come from (`[source.NAME]`). */
  readonly work: () => WorkConfig
  readonly sources: () => readonly SourceSettings[]
  /** Where it lies; null: there is none. */
  readonly file: () => string | null
  /** What is wrong with it, once it was read. */
  readonly trouble: () => string | null
}

/** `config.toml` in the home, read once and when asked. One that makes no sense must not make an agent unstoppable: then the shipped list holds. */
export function openConfig(home: string): Config {
  let known: Read | null = null
  const once = (): Read => {
    known ??= readConfig(join(home, 'config.toml'))
    return known
  }
  return {
    spares: () => once().spares,
    harnesses: () => [...HARNESSES, ...once().own],
    ownHarnesses: () => once().own,
    toolPidFiles: () => once().tools,
    daemonPort: () => {
      const { port, trouble } = once()
      // Rather nowhere than where nobody looks for it.
      if (port === 'unknown') throw new Problem('config-invalid', trouble ?? '', { hint: 'without a port there, the daemon takes a free one' })
      return port
    },
    notify: () => once().notify,
    work: () => strictly(once(), 'work'),
    sources: () => strictly(once(), 'sources'),
    file: () => (once().isThere ? join(home, 'config.toml') : null),
    trouble: () => known?.trouble ?? null,
  }
}

/** A worker that misread its settings would start the wrong agent, so it starts none. */
function strictly<K extends 'work' | 'sources'>({ trouble, ...read }: Read, key: K): NonNullable<Read[K]> {
  const value = read[key]
  if (value !== null) return value as NonNullable<Read[K]>
  throw new Problem('config-invalid', trouble ?? '', { hint: 'correct config.toml; until then no request is started' })
}

type Read = {
  readonly isThere: boolean
  readonly spares: readonly SpareRule[]
  readonly own: readonly Harness[]
  readonly tools: readonly ToolPidFiles[]
  readonly port: number | 'unknown' | null
  readonly notify: NotifyConfig
  readonly work: WorkConfig | null
  readonly sources: readonly SourceSettings[] | null
  readonly trouble: string | null
}

/** What is wrong in one part is no reason to forget the other. */
function readConfig(path: string): Read {
  const troubles: string[] = []
  const or = <T>(part: () => T, shipped: T): T => {
    try {
      return part()
    } catch (error) {
      troubles.push((error as Error).message)
      return shipped
    }
  }
  let isThere = true
  const text = (): string => {
    const read = readOr(path)
    isThere = read !== null
    return read ?? ''
  }
  const { spare = {}, harness = {}, daemon = {}, notify = {}, pid_files = {}, work = {}, source = {}, ...more } = or(() => parsed(text(), path), {})
  if (Object.keys(more).length > 0) troubles.push(`${path}: ${unknownKeys(Object.keys(more))}`)
  const spares = or(() => sparesFrom(spare, path), SPARE)
  const own = or(() => harnessesFrom(harness, path), [])
  const tools = or(() => toolsFrom(pid_files, path), [])
  const port = or<Read['port']>(() => portFrom(daemon, path), 'unknown')
  const told = or(() => notifyFrom(notify, path), NOTIFY_DEFAULT)
  const working = or<Read['work']>(() => workFrom(work, path), null)
  const sources = or<Read['sources']>(() => sourcesFrom(source, path, working ?? WORK_DEFAULT), null)
  return { isThere, spares, own, tools, port, notify: told, work: working, sources, trouble: troubles.length === 0 ? null : troubles.join('; ') }
}

const unknownKeys = (keys: readonly string[], table = ''): string => `unknown key ${keys.map((key) => JSON.stringify(table + key)).join(', ')}`

function sparesFrom(spare: unknown, path: string): readonly SpareRule[] {
  const unknown = Object.keys(spare as object).filter((key) => key !== 'add' && key !== 'drop')
  if (unknown.length > 0) throw new Error(`${path}: ${unknownKeys(unknown, 'spare.')}`)
  const add = namesIn(spare, 'add', path)
  const drop = namesIn(spare, 'drop', path)
  const kept = SPARE.map((rule) => ({ ...rule, named: rule.named.filter((name) => !drop.includes(name)) }))
  return add.length === 0 ? kept : [...kept, { what: 'on your own list', named: add }]
}

function harnessesFrom(tables: unknown, path: string): Harness[] {
  if (typeof tables !== 'object' || tables === null || Array.isArray(tables)) throw new Error(`${path}: harness is a table: [harness.NAME]`)
  return Object.entries(tables).map(([name, table]) => harnessFrom(name, table, path))
}

function toolsFrom(tables: unknown, path: string): ToolPidFiles[] {
  if (typeof tables !== 'object' || tables === null || Array.isArray(tables)) throw new Error(`${path}: pid_files is a table: [pid_files.NAME]`)
  const known = HARNESSES.map(({ name }) => name)
  return Object.entries(tables).map(([name, table]) => {
    if (known.includes(name)) throw new Error(`${path}: [pid_files.${name}]: Holdfast knows an agent of that name already, choose another`)
    return toolPidFilesFrom(name, table, path)
  })
}

/** Below 1024 only root may listen. */
function portFrom(table: unknown, path: string): number | null {
  if (typeof table !== 'object') throw new Error(`${path}: daemon is a table: [daemon]`)
  const { port = null, ...more } = table as Record<string, unknown>
  if (Object.keys(more).length > 0) throw new Error(`${path}: ${unknownKeys(Object.keys(more), 'daemon.')}`)
  if (port === null || (typeof port === 'number' && Number.isInteger(port) && port >= 1024 && port <= 65_535)) return port
  throw new Error(`${path}: daemon.port is a number from 1024 to 65535, such as port = 7440`)
}

function notifyFrom(table: unknown, path: string): NotifyConfig {
  if (typeof table !== 'object' || table === null || Array.isArray(table)) throw new Error(`${path}: notify is a table: [notify]`)
  const {
    desktop = NOTIFY_DEFAULT.desktop,
    bell = NOTIFY_DEFAULT.bell,
    command = null,
    on = NOTIFY_KINDS,
    ...more
  } = table as Record<string, unknown>
  const wrong = (what: string): Error => new Error(`${path}: ${what}`)
  if (Object.keys(more).length > 0) throw wrong(unknownKeys(Object.keys(more), 'notify.'))
  if (typeof desktop !== 'boolean') throw wrong('notify.desktop is true or false')
  if (typeof bell !== 'boolean') throw wrong('notify.bell is true or false')
  if (command !== null && !(areWords(command) && command[0] !== undefined && command[0] !== ''))
    throw wrong('notify.command is a list of words, the program first, such as command = ["notify-me", "--loud"]')
  const kinds = NOTIFY_KINDS.filter((kind) => areWords(on) && on.includes(kind))
  if (!areWords(on) || on.some((kind) => !kinds.some((known) => known === kind)))
    throw wrong(`notify.on is a list of any of ${NOTIFY_KINDS.map((kind) => JSON.stringify(kind)).join(', ')}`)
  return { desktop, bell, command: command === null ? null : (command as string[]), on: kinds }
}

const areWords = (value: unknown): value is string[] => Array.isArray(value) && value.every((word) => typeof word === 'string')

function parsed(text: string, path: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    throw new Error(`${path} is no TOML: ${(error as Error).message.split('\n')[0]}`, { cause: error })
  }
}

function namesIn(table: unknown, key: string, path: string): string[] {
  const names = (table as Record<string, unknown>)[key] ?? []
  if (Array.isArray(names) && names.every((name) => typeof name === 'string' && name !== '')) return names as string[]
  throw new Error(`${path}: spare.${key} is a list of process names, such as ${key} = ["gpg-agent"]`)
}

function readOr(path: string): string | null {
  try {
    return readFile(path, policy.smallFileBytes, 'followed')
  } catch (error) {
    if (!(error instanceof FileTrouble)) throw error
    if (error.code === 'ENOENT') return null
    throw new Error(`${path} cannot be read: it ${error.why}`, { cause: error })
  }
}
