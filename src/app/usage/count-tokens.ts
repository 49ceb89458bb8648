import { dirname } from 'node:path'
import { glanceUsage, readUsageWhole, type UsageRead } from '../../harness/index.ts'
import type { NativeId, Tokens, UsageCursor } from '../../model/index.ts'
import { addTokens, totalTokens } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { begunUsage, keyOf, placesOf, usageRuleOf } from './usage-baseline.ts'

/** What has been counted of a run, by conversation; and, as long as its keeper was seen, when and what that was last. */
type Counted = { readonly cursors: Readonly<Record<string, UsageCursor>>; readonly watched?: Watched }
export type Watched = { readonly at: number; readonly tokens: Tokens }

export type Counting = Pick<World, 'agentState' | 'usageFiles' | 'runRecords' | 'env' | 'readDatabase' | 'clock'>

/** How much is read for it: all there is; what a glance at the known files shows; nothing but what was counted before. */
export type Effort = 'all' | 'glance' | 'none'

/** `whole`: whether that is all that was written of it; `more`: whether the next look may find more without anything new being written. */
export type Count = { readonly tokens: Tokens; readonly whole: boolean; readonly more: boolean }

/** All that a run's conversations have burned in it; null: nobody says. */
export const tokensOf = (world: Counting, run: string): Tokens | null => countTokens(world, run, 'all', false)?.tokens ?? null

/** Reads what is new, and remembers how far. `watched`: its keeper was seen with it; what it burns later, until it is seen again, is unwatched. */
export function countTokens(world: Counting, run: string, effort: Effort, watched: boolean): Count | null {
  const natives = distinct(world.agentState.natives(run))
  if (natives.length === 0) return null
  const text = world.usageFiles.counted(run)
  const before = parsed(text)
  const cursors = { ...before.cursors }
  const reads = natives.map((native) => readOne(world, run, native, cursors[keyOf(native)] ?? null, effort))
  for (const [index, native] of natives.entries()) {
    const cursor = reads[index]?.cursor
    if (cursor !== undefined) cursors[keyOf(native)] = cursor
  }
  // What was counted stays counted, also where it cannot be read any more.
  const counted = natives.flatMap((native) => cursors[keyOf(native)]?.tokens ?? [])
  const tokens = counted.length === 0 ? null : counted.reduce(addTokens)
  const seen = watched && tokens !== null ? { watched: watchedNow(world, before.watched, tokens) } : {}
  const after: Counted = { ...before, cursors, ...seen }
  if (!isSame(before, after)) save(world, run, text, after)
  const whole = reads.every((read) => read?.complete === true)
  return tokens === null ? null : { tokens, whole, more: reads.some((read) => read?.complete === false) }
}

/** One that an agent has come back to is one all the same. */
const distinct = (natives: readonly NativeId[]): NativeId[] => [...new Map(natives.map((native) => [keyOf(native), native])).values()]

function readOne(world: Counting, run: string, native: NativeId, known: UsageCursor | null, effort: Effort): UsageRead | null {
  const rule = usageRuleOf(native.harness)
  const start = rule === null || effort === 'none' ? null : (known ?? begunUsage(world, run, native, rule))
  if (rule === null || start === null) return null
  // Where it keeps things need not be read again for what is known.
  const at = { id: native.id, env: effort === 'glance' && isFound(start) ? world.env : placesOf(world, run) }
  return (effort === 'all' ? readUsageWhole : glanceUsage)(rule, at, start, world.readDatabase)
}

const isFound = (cursor: UsageCursor): boolean => cursor.kind === 'lines' && Object.keys(cursor.files).length > 0

/** Nothing new is written down only so often. */
const WATCHED_EVERY_MS = 600_000

function watchedNow({ clock }: Counting, before: Watched | undefined, tokens: Tokens): Watched {
  const isOld = before === undefined || clock.now() - before.at >= WATCHED_EVERY_MS || totalTokens(before.tokens) !== totalTokens(tokens)
  return isOld ? { at: clock.now(), tokens } : before
}

export const lastWatched = (world: Pick<World, 'usageFiles'>, run: string): Watched | null => parsed(world.usageFiles.counted(run)).watched ?? null

/** Where it shows that a run's agent has burned more: the files that were read, and the folders where those of new agents come to lie. None: not yet. */
export function filesOf(world: Pick<World, 'usageFiles' | 'agentState'>, run: string): string[] {
  const { cursors } = parsed(world.usageFiles.counted(run))
  const files = world.agentState.natives(run).map((native) => pathsIn(cursors[keyOf(native)]))
  return files.at(-1)?.length === 0 ? [] : [...new Set(files.flat())]
}

function pathsIn(cursor: UsageCursor | undefined): string[] {
  if (cursor === undefined) return []
  return cursor.kind === 'totals' ? Object.keys(cursor.seen) : Object.keys(cursor.files).flatMap((path) => [path, dirname(path)])
}

const isSame = (one: Counted, other: Counted): boolean =>
  one.watched === other.watched &&
  Object.entries(other.cursors).every(([key, cursor]) => cursor === one.cursors[key] || JSON.stringify(cursor) === JSON.stringify(one.cursors[key]))

/** Others count at the same time. Who wrote meanwhile may have come further; a cursor is true as a whole, so the further one is kept. */
function save(world: Counting, run: string, text: string | null, mine: Counted): void {
  const now = world.usageFiles.counted(run)
  world.usageFiles.recordCounted(run, JSON.stringify(now === text ? mine : furthest(mine, parsed(now))))
}

export function furthest(one: Counted, other: Counted): Counted {
  const cursors = { ...one.cursors }
  for (const [key, cursor] of Object.entries(other.cursors)) {
    const known = cursors[key]
    if (known === undefined || totalTokens(cursor.tokens) > totalTokens(known.tokens)) cursors[key] = cursor
  }
  const watched = [one.watched, other.watched].flatMap((seen) => seen ?? []).sort((a, b) => b.at - a.at)[0]
  return { cursors, ...(watched === undefined ? {} : { watched }) }
}

function parsed(text: string | null): Counted {
  try {
    return text === null ? { cursors: {} } : (JSON.parse(text) as Counted)
  } catch {
    return { cursors: {} }
  }
}
