import { choosesSession } from '../decide/index.ts'
import { baselineUsage, readUsage } from '../harness/index.ts'
import type { Environment, Harness, NativeId, Run, Tokens, UsageCursor, UsageRule } from '../model/index.ts'
import { addTokens, NO_TOKENS, totalTokens } from '../model/index.ts'
import { birthOf } from '../observe/index.ts'
import type { World } from './world.ts'

/** What has been counted of a run, by conversation; and, as long as its keeper was seen, when and what that was last. */
type Counted = {
  readonly cursors: Readonly<Record<string, UsageCursor>>
  readonly watched?: Watched
  /** Where its harness keeps things: whoever looks may have another home. */
  readonly env?: Environment
}
export type Watched = { readonly at: number; readonly tokens: Tokens }

type Counting = Pick<World, 'files' | 'harnesses' | 'env' | 'readDatabase'>

const keyOf = ({ harness, id }: NativeId): string => `${harness} ${id}`

const PLACES = /^(HOME|XDG_\w+|\w+_(HOME|DIR))$/

/** Those of its variables that say where its harness keeps things: paths, no secrets. */
export function recordPlaces(world: World, run: string, env: Environment): void {
  const places = Object.entries(env).filter(([name, value]) => PLACES.test(name) && value?.startsWith('/') === true)
  write(world, run, { ...counted(world, run), env: Object.fromEntries(places) })
}

export const placesOf = (world: Pick<World, 'files' | 'env'>, run: string): Environment => counted(world, run).env ?? world.env

/** What was burned in an old conversation before it went on here is not this run's. Asked before the run begins. */
export function beginUsage(world: World, run: string, { name, usage }: Harness, native: string): void {
  if (usage !== null)
    setCursor(world, run, { harness: name, id: native }, baselineUsage(usage, { env: placesOf(world, run), id: native }, world.readDatabase))
}

/** The same for one that the run is known to carry only now. One that is younger than the run is all its own. */
export function beginUsageLate(world: World, run: Run, harness: Harness, native: string): void {
  const { usage } = harness
  const at = { env: placesOf(world, run.id), id: native }
  if (usage === null) return
  const isOld = usage.kind === 'database' ? choosesSession(harness, run.argv.slice(1)) : isOlder(usage, at, run.startedAt)
  if (!isOld) return
  // Lines say when they were written; totals are as they are now.
  const cursor: UsageCursor =
    usage.kind === 'lines' ? { kind: 'lines', since: run.startedAt, tokens: NO_TOKENS, files: {} } : baselineUsage(usage, at, world.readDatabase)
  setCursor(world, run.id, { harness: harness.name, id: native }, cursor)
}

/** What is counted already stays counted. */
function setCursor(world: World, run: string, native: NativeId, cursor: UsageCursor): void {
  const { cursors, ...more } = counted(world, run)
  if (cursors[keyOf(native)] === undefined) write(world, run, { ...more, cursors: { ...cursors, [keyOf(native)]: cursor } })
}

/** All that a run's conversations have burned in it; null: nobody says. Reads what is new, and remembers how far. */
export function tokensOf(world: Counting, run: string): Tokens | null {
  const natives = world.files.natives(run)
  if (natives.length === 0) return null
  const before = counted(world, run)
  const cursors = { ...before.cursors }
  let tokens: Tokens | null = null
  for (const native of natives) {
    const rule = ruleOf(world, native.harness)
    const key = keyOf(native)
    const read = rule === null ? null : readUsage(rule, { env: before.env ?? world.env, id: native.id }, cursors[key] ?? null, world.readDatabase)
    if (read === null) continue
    cursors[key] = read.cursor
    tokens = addTokens(tokens ?? NO_TOKENS, read.tokens)
  }
  if (JSON.stringify(cursors) !== JSON.stringify(before.cursors)) write(world, run, { ...before, cursors })
  return tokens
}

/** Nothing new is written down only so often. */
const WATCHED_EVERY_MS = 60_000

/** The files in which it shows that a run's agent has burned more. */
export const filesOf = (world: World, run: string): string[] =>
  world.files.natives(run).flatMap(({ harness, id }) => {
    const rule = ruleOf(world, harness)
    if (rule === null) return []
    const env = placesOf(world, run)
    return rule.kind === 'database' ? [rule.path(env), `${rule.path(env)}-wal`] : rule.files(env, id)
  })

const ruleOf = (world: Pick<World, 'harnesses'>, name: string): UsageRule | null => world.harnesses().find((one) => one.name === name)?.usage ?? null

/** Whether a conversation began before that time. */
export function isOlder(rule: UsageRule, at: { readonly env: Environment; readonly id: string }, time: number): boolean {
  const files = rule.kind === 'database' ? [] : rule.files(at.env, at.id)
  return files.some((path) => (birthOf(path) ?? time) < time - BIRTH_MS)
}
/** Births of processes are known to a hundredth of a second, those of files by another clock. */
const BIRTH_MS = 1_000

/** Its keeper was seen with it: what it burns from here on, until it is seen again, it burns unwatched. */
export function watched(world: World, run: string, tokens: Tokens): void {
  const before = counted(world, run)
  const isNew =
    before.watched === undefined ||
    world.clock.now() - before.watched.at >= WATCHED_EVERY_MS ||
    totalTokens(before.watched.tokens) !== totalTokens(tokens)
  if (isNew) write(world, run, { ...before, watched: { at: world.clock.now(), tokens } })
}

export const lastWatched = (world: World, run: string): Watched | null => counted(world, run).watched ?? null

function counted(world: Pick<World, 'files'>, run: string): Counted {
  const text = world.files.usage(run)
  try {
    return text === null ? { cursors: {} } : (JSON.parse(text) as Counted)
  } catch {
    return { cursors: {} }
  }
}

/** A full disk only means that it is read again from where it was. */
function write(world: Pick<World, 'files'>, run: string, counts: Counted): void {
  world.files.recordUsage(run, JSON.stringify(counts))
}
