import { dirname } from 'node:path'
import { withoutDoubt } from '../../decide/index.ts'
import { glanceUsage, readUsageWhole, type UsageRead } from '../../harness/index.ts'
import type { DoubtfulTime, Environment, NativeId, Tokens, UsageCursor, UsageRule, UsageWindow } from '../../model/index.ts'
import { addTokens, totalTokens } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { keyOf, marksOf, placesOf, usageRuleOf, windowsIn } from './usage-baseline.ts'

/** What has been counted of a run, by stretch of a conversation; and, as long as its keeper was seen, when and what that was last. */
type Counted = { readonly cursors: Readonly<Record<string, UsageCursor>>; readonly watched?: Watched }
export type Watched = { readonly at: number; readonly tokens: Tokens }

export type Counting = Pick<World, 'agentState' | 'usageFiles' | 'runRecords' | 'env' | 'readDatabase' | 'clock'>

/** How much is read for it: all there is; what a glance at the known files shows; nothing but what was counted before. */
export type Effort = 'all' | 'glance' | 'none'

/** `whole`: whether that is all that was written of it; `more`: whether the next look may find more without anything new being written. */
export type Count = { readonly tokens: Tokens; readonly whole: boolean; readonly more: boolean }

/** A conversation with the stretches of it that count. */
export type Counts = {
  readonly native: NativeId
  readonly rule: UsageRule | null
  readonly env: () => Environment
  readonly windows: readonly UsageWindow[]
}

/** When others may have spent in a conversation, by its key. */
export type Doubts = ReadonlyMap<string, readonly DoubtfulTime[]>
export const NO_DOUBTS: Doubts = new Map()

/** All that a run's conversations have burned in it; null: nobody says. */
export const tokensOf = (world: Counting, run: string): Tokens | null => countTokens(world, run, 'all', false)?.tokens ?? null

/**
 * Reads what is new, and remembers how far. `watched`: its keeper was seen with it; what it burns later, until it is seen again, is unwatched.
 * `doubts`: what was written then does not count.
 */
export function countTokens(world: Counting, run: string, effort: Effort, watched: boolean, doubts = NO_DOUBTS): Count | null {
  const marks = marksOf(world, run)
  const counts = distinct(world.agentState.natives(run)).map((native): Counts => {
    const rule = usageRuleOf(native.harness)
    const windows = rule === null ? [] : windowsIn(world, run, marks, native, rule)
    const sure = windows.flatMap((window) => withoutDoubt(window, doubts.get(keyOf(native)) ?? []))
    return { native, rule, env: () => placesOf(world, run), windows: sure }
  })
  return countAll(world, run, counts, effort, watched)
}

/** Reads what is new of these conversations, and remembers it with the run. */
export function countAll(world: Counting, run: string, counts: readonly Counts[], effort: Effort, watched: boolean): Count | null {
  if (counts.length === 0) return null
  const text = world.usageFiles.counted(run)
  const before = parsed(text)
  const cursors = { ...before.cursors }
  const read = counts.flatMap((one) => one.windows.map((window) => ({ window, read: readOne(world, one, window, cursors, effort) })))
  for (const { window, read: fresh } of read) if (fresh !== null) cursors[window.key] = fresh.cursor
  // What was counted stays counted, also where it cannot be read any more.
  const counted = read.flatMap(({ window }) => knownOf(cursors, window)?.tokens ?? [])
  const tokens = counted.length === 0 ? null : counted.reduce(addTokens)
  const seen = watched && tokens !== null ? { watched: watchedNow(world, before.watched, tokens) } : {}
  const after: Counted = { ...before, cursors, ...seen }
  if (!isSame(before, after)) save(world, run, text, after)
  const isWhole = counts.every(({ windows }) => windows.length > 0) && read.every(({ read: one }) => one?.complete === true)
  return tokens === null ? null : { tokens, whole: isWhole, more: read.some(({ read: one }) => one?.complete === false) }
}

/** One that an agent has come back to is one all the same. */
const distinct = (natives: readonly NativeId[]): NativeId[] => [...new Map(natives.map((native) => [keyOf(native), native])).values()]

type Cursors = Readonly<Record<string, UsageCursor>>

function readOne(world: Counting, { native, rule, env }: Counts, window: UsageWindow, cursors: Cursors, effort: Effort): UsageRead | null {
  if (rule === null || effort === 'none') return null
  // Totals say nothing of when: once another may add to them, what was counted by then stands.
  if (rule.kind !== 'lines' && window.until !== null) return null
  const start = knownOf(cursors, window) ?? startOf(window)
  // Where it keeps things need not be read again for what is known.
  const at = { id: native.id, env: effort === 'glance' && isFound(start) ? world.env : env() }
  return (effort === 'all' ? readUsageWhole : glanceUsage)(rule, at, start, world.readDatabase)
}

const startOf = ({ start, until }: UsageWindow): UsageCursor => (start.kind === 'lines' && until !== null ? { ...start, until } : start)

/** Of a stretch that was closed since it was counted last: what was counted while it was open, unless some of that was written later. */
function knownOf(cursors: Cursors, { key, until }: UsageWindow): UsageCursor | undefined {
  const open = cursors[key] ?? cursors[key.split(' <', 1)[0] ?? key]
  if (cursors[key] !== undefined || until === null || open?.kind !== 'lines') return open
  return Object.values(open.files).every(({ last }) => (last ?? 0) <= until) ? { ...open, until } : undefined
}

const isFound = (cursor: UsageCursor): boolean => cursor.kind === 'lines' && Object.keys(cursor.files).length > 0

/** Nothing new is written down only so often. */
const WATCHED_EVERY_MS = 600_000

function watchedNow({ clock }: Counting, before: Watched | undefined, tokens: Tokens): Watched {
  const isOld = before === undefined || clock.now() - before.at >= WATCHED_EVERY_MS || totalTokens(before.tokens) !== totalTokens(tokens)
  return isOld ? { at: clock.now(), tokens } : before
}

export const lastWatched = (world: Pick<World, 'usageFiles'>, run: string): Watched | null => parsed(world.usageFiles.counted(run)).watched ?? null

/** When the last answer was written of those that were counted under such keys. */
export function lastSpentAt(world: Pick<World, 'usageFiles'>, run: string, isMeant: (key: string) => boolean): number | null {
  const cursors = Object.entries(parsed(world.usageFiles.counted(run)).cursors).flatMap(([key, cursor]) => (isMeant(key) ? [cursor] : []))
  const times = cursors.flatMap((cursor) => (cursor.kind === 'lines' ? Object.values(cursor.files).flatMap(({ last }) => last ?? []) : []))
  return times.length === 0 ? null : Math.max(...times)
}

/** Where it shows that a run's agent has burned more: the files that were read, and the folders where those of new agents come to lie. None: not yet. */
export function filesOf(world: Pick<World, 'usageFiles' | 'agentState'>, run: string): string[] {
  const { cursors } = parsed(world.usageFiles.counted(run))
  const last = world.agentState.natives(run).at(-1)
  const isOfLast = (key: string): boolean => last !== undefined && (key === keyOf(last) || key.startsWith(`${keyOf(last)} `))
  if (!Object.entries(cursors).some(([key, cursor]) => isOfLast(key) && pathsIn(cursor).length > 0)) return []
  return [...new Set(Object.values(cursors).flatMap(pathsIn))]
}

function pathsIn(cursor: UsageCursor): string[] {
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
