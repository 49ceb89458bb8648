import { windowsOf, withoutDoubt } from '../../decide/index.ts'
import type { Harness, NativeId, NestedAgent, Run, Store, Tokens } from '../../model/index.ts'
import { addTokens, isLive } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { type Count, type Counting, type Counts, countAll, type Doubts, type Effort, lastSpentAt, NO_DOUBTS } from './count-tokens.ts'
import { nestedNotes } from './nested-notes.ts'
import { othersWith } from './shared-conversations.ts'
import { beginUsageLate, keyOf, marksOf, recordMark, usageRuleOf } from './usage-baseline.ts'

const prefixOf = ({ process: { pid, ticks } }: NestedAgent): string => `${pid}-${ticks} `
const nestedKey = (agent: NestedAgent, native: NativeId): string => `${prefixOf(agent)}${keyOf(native)}`

/** The conversations that an agent inside a run is known to have had for itself. */
export function nativesOfNested(world: Pick<World, 'usageFiles'>, run: string, agent: NestedAgent): NativeId[] {
  const prefix = `${prefixOf(agent)}${agent.harness} `
  const keys = marksOf(world, run).flatMap((mark) => ('native' in mark && mark.native.startsWith(prefix) ? [mark.native] : []))
  return [...new Set(keys)].map((key) => ({ harness: agent.harness, id: key.slice(prefix.length) }))
}

/** What it has burned itself; null: nobody says. */
export function countNested(world: Counting, run: string, agent: NestedAgent, effort: Effort, doubts: Doubts = NO_DOUBTS): Count | null {
  const rule = usageRuleOf(agent.harness)
  const marks = marksOf(world, run)
  const counts = nativesOfNested(world, run, agent).map(
    (native): Counts => ({
      native,
      rule,
      env: () => agent.env,
      windows: windowsOf(marks, nestedKey(agent, native)).flatMap((window) => withoutDoubt(window, doubts.get(keyOf(native)) ?? [])),
    }),
  )
  return countAll(world, run, counts, effort, false)
}

/** What all agents inside a run have burned, those that are over included; null: nobody says. */
export function countAllNested(world: Counting, run: string, effort: Effort, doubts: Doubts): Count | null {
  const counts = nestedNotes(world, run).flatMap(({ agent }) => countNested(world, run, agent, effort, doubts) ?? [])
  return counts.length === 0 ? null : counts.reduce(sumOf)
}

export const sumOf = (one: Count, other: Count): Count => ({
  tokens: addTokens(one.tokens, other.tokens),
  whole: one.whole && other.whole,
  more: one.more || other.more,
})

export const tokensOfNested = (world: Counting, run: string, agent: NestedAgent, effort: Effort): Tokens | null =>
  countNested(world, run, agent, effort)?.tokens ?? null

/** When it burned last, as its files tell; null: they do not. */
export const nestedSpentAt = (world: Pick<World, 'usageFiles'>, run: string, agent: NestedAgent): number | null =>
  lastSpentAt(world, run, (key) => key.startsWith(prefixOf(agent)))

type Sharing = Counting & Pick<World, 'directories' | 'processes'>

/**
 * An agent inside a run proves to carry this conversation. It counts from when the agent began, or the one before it left. While another live
 * one has it, that one's count has all of it.
 */
export async function beginNested(world: Sharing, store: Store, run: Run, agent: NestedAgent, harness: Harness, native: NativeId): Promise<void> {
  const key = nestedKey(agent, native)
  const marks = marksOf(world, run.id)
  if (windowsOf(marks, key).some(({ until }) => until === null)) return
  for (const before of nativesOfNested(world, run.id, agent)) if (keyOf(before) !== keyOf(native)) leaveNested(world, run.id, agent, before)
  const since = [agent.startedAt]
  for (const other of await othersWith(world, store, null, keyOf(native))) {
    if (other.run.id === run.id && other.key === key) continue
    const over = isLive(other.run) ? other.until : Math.min(other.run.endedAt, other.until ?? other.run.endedAt)
    if (over === null) return
    since.push(over)
  }
  const own = windowsOf(marks, key).at(-1)?.until ?? agent.startedAt
  beginUsageLate(world, { id: run.id, argv: agent.argv, startedAt: agent.startedAt }, harness, native.id, Math.max(own, ...since), {
    key,
    env: agent.env,
  })
}

/** It is over: what others write in its conversations from now on is theirs. Counted once more before that, since totals have no times. */
export function endNested(world: Counting, run: Pick<Run, 'id'>, agent: NestedAgent): Tokens | null {
  const tokens = tokensOfNested(world, run.id, agent, 'all')
  for (const native of nativesOfNested(world, run.id, agent)) leaveNested(world, run.id, agent, native)
  return tokens
}

function leaveNested(world: Counting, run: string, agent: NestedAgent, native: NativeId): void {
  const key = nestedKey(agent, native)
  if (windowsOf(marksOf(world, run), key).every(({ until }) => until !== null)) return
  recordMark(world, run, { left: key, at: world.clock.now() })
}
