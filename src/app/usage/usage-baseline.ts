import { choosesSession, windowsOf } from '../../decide/index.ts'
import { argumentsOf, baselineUsage, HARNESSES, usageSince } from '../../harness/index.ts'
import type { Environment, Harness, NativeId, NestedLine, Run, UsageMark, UsageRule, UsageWindow } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** Whoever counts writes down how far it came; where counting begins and ends is written as marks, which are only ever added. */
type Begun = { readonly env: Environment } | UsageMark | NestedLine

export const keyOf = ({ harness, id }: NativeId): string => `${harness} ${id}`

/** Those that config.toml describes have none. */
export const usageRuleOf = (name: string): UsageRule | null => HARNESSES.find((one) => one.name === name)?.usage ?? null

const PLACES = /^(HOME|XDG_\w+|\w+_(HOME|DIR))$/

/** Those of its variables that say where its harness keeps things: paths, no secrets. */
export const recordPlaces = (world: World, run: string, env: Environment): void => record(world, run, { env: placesIn(env) })

export const placesIn = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name, value]) => PLACES.test(name) && value?.startsWith('/') === true))

/** Whoever looks may have another home. */
export const placesOf = (world: Pick<World, 'usageFiles' | 'env'>, run: string): Environment =>
  begun(world, run).flatMap((line) => ('env' in line ? [line.env] : []))[0] ?? world.env

/** What was burned in an old conversation before it went on here is not this run's. Asked before the run begins. */
export function beginUsage(world: World, run: string, { name, usage }: Harness, native: string): void {
  if (usage === null) return
  record(world, run, {
    native: keyOf({ harness: name, id: native }),
    cursor: baselineUsage(usage, { env: placesOf(world, run), id: native }, world.readDatabase),
  })
}

/** A conversation that begins with the run: all of it counts, but for what it may copy from an older one. */
export function beginUsageNew(world: World, run: Pick<Run, 'id' | 'startedAt'>, { name, usage }: Harness, native: string): void {
  if (usage !== null) record(world, run.id, { native: keyOf({ harness: name, id: native }), cursor: usageSince(usage, run.startedAt) })
}

/**
 * For one that the run is known to carry only now. Lines say when they were written; totals of an old one are as they are now. `since`: until then
 * another agent had it, or this one had another. `inside`: it is the conversation of an agent inside the run, whose `argv` and `startedAt` are given.
 */
export function beginUsageLate(
  world: Begins,
  run: Pick<Run, 'id' | 'argv' | 'startedAt'>,
  harness: Harness,
  native: string,
  since: number,
  inside: { readonly key: string; readonly env: Environment } | null = null,
): void {
  const { name, usage } = harness
  if (usage === null) return
  const at = { env: inside?.env ?? placesOf(world, run.id), id: native }
  const isOld = usage.kind !== 'lines' && (since > run.startedAt || isOlder(world, harness, usage, at, run))
  const cursor = isOld ? baselineUsage(usage, at, world.readDatabase) : usageSince(usage, since)
  const key = inside?.key ?? keyOf({ harness: name, id: native })
  record(world, run.id, { native: key, cursor, ...(since > run.startedAt ? { at: since } : {}) })
}

type Begins = Pick<World, 'directories' | 'env' | 'readDatabase' | 'usageFiles'>

/** Whether the totals of a conversation are of before that: those in a database do not say when it began, but who goes on with one says so. */
export function isOlder(
  { directories }: Pick<World, 'directories'>,
  harness: Harness,
  rule: Exclude<UsageRule, { kind: 'lines' }>,
  at: { readonly env: Environment; readonly id: string },
  { argv, startedAt }: Pick<Run, 'argv' | 'startedAt'>,
): boolean {
  if (rule.kind === 'database') return choosesSession(harness, argumentsOf(argv, harness))
  return rule.files(at.env, at.id, 'own').some((path) => (directories.bornAt(path) ?? startedAt) < startedAt - BIRTH_MS)
}
/** Births of processes are known to a hundredth of a second, those of files by another clock. */
const BIRTH_MS = 1_000

/**
 * The stretches of a conversation that count in a run. None: nobody knows from where. A full disk may have swallowed the mark: then lines still
 * say when they were written.
 */
export function windowsIn(
  world: Pick<World, 'runRecords'>,
  run: string,
  marks: readonly UsageMark[],
  native: NativeId,
  rule: UsageRule,
): readonly UsageWindow[] {
  const windows = windowsOf(marks, keyOf(native))
  const startedAt = windows.length === 0 && rule.kind === 'lines' ? world.runRecords.read(run)?.startedAt : undefined
  return startedAt === undefined ? windows : [{ key: keyOf(native), start: usageSince(rule, startedAt), until: null }]
}

export const marksOf = (world: Pick<World, 'usageFiles'>, run: string): UsageMark[] =>
  begun(world, run).flatMap((line) => ('native' in line || 'left' in line || 'shared' in line ? [line] : []))

/** What was noted of the agents inside it. */
export const nestedLinesOf = (world: Pick<World, 'usageFiles'>, run: string): NestedLine[] =>
  begun(world, run).flatMap((line) => ('nested' in line || 'nestedOver' in line ? [line] : []))

export const recordNestedLine = (world: Pick<World, 'usageFiles'>, run: string, line: NestedLine): void => record(world, run, line)

export const recordMark = (world: Pick<World, 'usageFiles'>, run: string, mark: UsageMark): void => record(world, run, mark)

const begun = (world: Pick<World, 'usageFiles'>, run: string): Begun[] =>
  world.usageFiles.baseline(run).flatMap((line) => {
    try {
      return [JSON.parse(line) as Begun]
    } catch {
      return []
    }
  })

const record = (world: Pick<World, 'usageFiles'>, run: string, line: Begun): void => world.usageFiles.recordBaseline(run, JSON.stringify(line))
