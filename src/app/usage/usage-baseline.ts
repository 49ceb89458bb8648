import { choosesSession } from '../../decide/index.ts'
import { argumentsOf, baselineUsage, HARNESSES, usageSince } from '../../harness/index.ts'
import type { Environment, Harness, NativeId, Run, UsageCursor, UsageRule } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** Whoever counts writes down how far it came; where counting began is written once, and by nobody else. */
type Begun = { readonly env: Environment } | { readonly native: string; readonly cursor: UsageCursor }

export const keyOf = ({ harness, id }: NativeId): string => `${harness} ${id}`

/** Those that config.toml describes have none. */
export const usageRuleOf = (name: string): UsageRule | null => HARNESSES.find((one) => one.name === name)?.usage ?? null

const PLACES = /^(HOME|XDG_\w+|\w+_(HOME|DIR))$/

/** Those of its variables that say where its harness keeps things: paths, no secrets. */
export function recordPlaces(world: World, run: string, env: Environment): void {
  const places = Object.entries(env).filter(([name, value]) => PLACES.test(name) && value?.startsWith('/') === true)
  record(world, run, { env: Object.fromEntries(places) })
}

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

/** For one that the run is known to carry only now. Lines say when they were written; totals of an old one are as they are now. */
export function beginUsageLate(world: World, run: Run, harness: Harness, native: string): void {
  const { usage } = harness
  if (usage === null) return
  const at = { env: placesOf(world, run.id), id: native }
  if (usage.kind !== 'lines' && isOlder(world, harness, usage, at, run)) beginUsage(world, run.id, harness, native)
  else beginUsageNew(world, run, harness, native)
}

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

/** From where a conversation counts in a run; null: nobody knows. A full disk may have swallowed it: then lines still say when they were written. */
export function begunUsage(world: Pick<World, 'usageFiles' | 'runRecords'>, run: string, native: NativeId, rule: UsageRule): UsageCursor | null {
  const known = begun(world, run).flatMap((line) => ('native' in line && line.native === keyOf(native) ? [line.cursor] : []))[0]
  if (known !== undefined) return known
  const startedAt = rule.kind === 'lines' ? world.runRecords.read(run)?.startedAt : undefined
  return startedAt === undefined ? null : usageSince(rule, startedAt)
}

const begun = (world: Pick<World, 'usageFiles'>, run: string): Begun[] =>
  world.usageFiles.baseline(run).flatMap((line) => {
    try {
      return [JSON.parse(line) as Begun]
    } catch {
      return []
    }
  })

const record = (world: World, run: string, line: Begun): void => world.usageFiles.recordBaseline(run, JSON.stringify(line))
