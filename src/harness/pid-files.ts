import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment, Registry, RegistryEntry } from '../model/index.ts'
import { isSignallable } from '../model/index.ts'
import type { Fields } from './disk.ts'
import { absolute, fieldsOf, orNull } from './disk.ts'

/** `start`: how a file tells the start ticks of its process. `services`: the kinds that serve sessions, and are none. */
type PidFiles = { readonly folder: (env: Environment) => string; readonly start: RegExp; readonly services: readonly string[] }

const MAX_FILES = 500
const MAX_BYTES = 64 * 1024

/** A folder in which a harness keeps one `PID.json` for each of its live processes; those that were killed leave theirs behind. */
export const pidFiles = ({ folder, start, services }: PidFiles): Registry => ({
  read: (env, mayBeThere) =>
    pidsIn(folder(env), mayBeThere).flatMap((pid) => {
      const fields = fieldsOf(join(folder(env), `${pid}.json`), MAX_BYTES)
      return (fields === null ? null : entryFrom(pid, fields, start, services)) ?? []
    }),
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

function entryFrom(pid: number, fields: Fields, start: RegExp, services: readonly string[]): RegistryEntry | null {
  const { procStart, sessionId, kind } = fields
  const cwd = absolute(fields['cwd'])
  const ticks = Number((typeof procStart === 'string' && start.exec(procStart)?.[1]) || Number.NaN)
  if (!isSignallable(pid) || (fields['pid'] ?? pid) !== pid || Number.isNaN(ticks) || cwd === null) return null
  const nativeId = typeof sessionId === 'string' && sessionId !== '' ? sessionId : null
  return { process: { pid, ticks }, cwd, nativeId, service: typeof kind === 'string' && services.includes(kind) }
}
