import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { orNull } from '../../lib/index.ts'
import type { ActivityState, Anchor, Environment, NotedActivity, Registry, RegistryEntry } from '../../model/index.ts'
import { isSignallable } from '../../model/index.ts'
import { fileAt, isThereAtAll, listed, malformed, pidIn } from './anchors.ts'
import type { Fields } from './disk.ts'
import { absolute, fieldsIn, fieldsOf, namesIn } from './disk.ts'

type PidFiles = {
  readonly harness: string
  readonly folder: (env: Environment) => string
  /** How a file tells the start `ticks` of its process, and the `boot`, if it does. */
  readonly start: RegExp
  /** How it tells where that process lives, if it does. */
  readonly place: (fields: Fields) => { readonly machine: string | null; readonly pidNamespace: string | null }
  /** The kinds that serve sessions, and are none. */
  readonly services: readonly string[]
  /** Its words for what such a process is at (`status`), if it says. */
  readonly states?: Readonly<Record<string, ActivityState>>
}

const MAX_FILES = 500
const MAX_BYTES = 64 * 1024

/** A folder in which a harness keeps one `PID.json` for each of its live processes; those that were killed leave theirs behind. */
export const pidFiles = (about: PidFiles): Registry => ({
  read: (env, mayBeThere) =>
    pidsIn(about.folder(env), mayBeThere).flatMap((pid) => {
      const fields = fieldsOf(join(about.folder(env), `${pid}.json`), MAX_BYTES)
      return (fields === null ? null : entryFrom(pid, fields, about)) ?? []
    }),
  ...(about.states === undefined ? {} : { activity: (env, process) => activityAt(about.folder(env), process, about) }),
  anchors: {
    list: (env) => {
      const names = namesIn(about.folder(env)).filter((name) => name.endsWith('.json'))
      const paths = names.map((name) => join(about.folder(env), name))
      return listed(paths, (path) => anchorAt(path, about))
    },
    read: (path) => anchorAt(path, about),
  },
})

/** Next to them lie keys, which are nobody's business. */
function pidsIn(folder: string, mayBeThere: (pid: number) => boolean): number[] {
  const names = orNull(() => readdirSync(folder)) ?? []
  return names
    .flatMap((name) => /^([1-9]\d{0,6})\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .filter(mayBeThere)
    .slice(0, MAX_FILES)
}

function entryFrom(pid: number, fields: Fields, { start, services }: PidFiles): RegistryEntry | null {
  const { kind } = fields
  const cwd = absolute(fields['cwd'])
  const { ticks } = startIn(fields, start)
  if (!isSignallable(pid) || (fields['pid'] ?? pid) !== pid || ticks === null || cwd === null) return null
  return { process: { pid, ticks }, cwd, nativeId: sessionIn(fields), service: typeof kind === 'string' && services.includes(kind) }
}

/** Only of the very process that it names; since when it says itself, in milliseconds. */
function activityAt(folder: string, { pid, ticks }: RegistryEntry['process'], about: PidFiles): NotedActivity | null {
  const path = join(folder, `${pid}.json`)
  const fields = isThereAtAll(path) ? fieldsOf(path, MAX_BYTES) : null
  if (fields === null || entryFrom(pid, fields, about)?.process.ticks !== ticks) return null
  const { status, statusUpdatedAt, updatedAt } = fields
  const state = typeof status === 'string' && about.states !== undefined && Object.hasOwn(about.states, status) ? about.states[status] : undefined
  const since = [statusUpdatedAt, updatedAt].map(timeIn).find((time) => time !== null)
  return state === undefined || since === undefined ? null : { state, since }
}

function timeIn(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : value
  return typeof ms === 'number' && Number.isFinite(ms) && ms > 0 ? Math.floor(ms) : null
}

function anchorAt(path: string, { harness, start, place }: PidFiles): Anchor | null {
  if (!isThereAtAll(path)) return null
  const file = fileAt(path)
  const fields = file === null ? null : fieldsIn(file.text)
  const pid = pidIn(basename(path, '.json'))
  if (pid === null) return malformed(harness, path, 'its name is no pid')
  if (file === null) return malformed(harness, path, 'it may not be read, or is no plain file')
  if (fields === null) return malformed(harness, path, 'it is no JSON')
  if ((fields['pid'] ?? pid) !== pid)
    return malformed(harness, path, `its name says ${pid}, and it says ${JSON.stringify(fields['pid']).slice(0, 40)}`)
  const says = { kind: 'process', pid, ...startIn(fields, start), ...place(fields), flock: 'none' } as const
  return { harness, nativeId: sessionIn(fields), path, files: [{ path, stamp: file.stamp }], says }
}

function startIn({ procStart }: Fields, start: RegExp): { readonly ticks: number | null; readonly bootId: string | null } {
  const { ticks, boot } = (typeof procStart === 'string' ? start.exec(procStart)?.groups : undefined) ?? {}
  return { ticks: ticks === undefined ? null : Number(ticks), bootId: boot ?? null }
}

const sessionIn = ({ sessionId }: Fields): string | null => (typeof sessionId === 'string' && sessionId !== '' ? sessionId : null)
