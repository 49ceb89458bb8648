import { isThere } from '../../act/index.ts'
import type { Run, Store, Tokens } from '../../model/index.ts'
import { addTokens, isLive, NO_TOKENS, tokensBeyond } from '../../model/index.ts'
import type { SessionView } from '../../show/index.ts'
import type { World } from '../world/world.ts'
import { countTokens, type Effort, lastWatched } from './count-tokens.ts'

/** A list is there at once: whoever is not reached in this time is shown with what was counted before. */
const GLANCES_MS = 20

/**
 * The same sights, with what their agents say they have burned: in this run, in all runs of the session, and since nobody watches it.
 * Of many, each gets a glance only, and each time another one comes first.
 */
export async function withTokens(world: World, store: Store, sights: readonly SessionView[], effort: 'all' | 'glance'): Promise<SessionView[]> {
  const counted = sights.flatMap(({ session }, index) => (session.harness === null ? [] : [index]))
  if (counted.length === 0) return [...sights]
  const ended = await store.runs.spent(counted.map((index) => (sights[index] as SessionView).session.id))
  const until = world.clock.elapsed() + GLANCES_MS
  const seen = [...sights]
  const first = Math.floor(world.clock.random() * counted.length)
  for (const index of [...counted.slice(first), ...counted.slice(0, first)]) {
    const sight = sights[index] as SessionView
    const may: Effort = effort === 'all' || world.clock.elapsed() < until ? effort : 'none'
    seen[index] = { ...sight, tokens: tokensOfView(world, sight, ended.get(sight.session.id) ?? null, may) }
  }
  return seen
}

function tokensOfView(world: World, { run, liveness }: SessionView, ended: Tokens | null, effort: Effort): NonNullable<SessionView['tokens']> {
  if (!isLive(run)) {
    const recorded = run.usage?.tokens ?? null
    return { run: recorded, session: ended, whole: recorded !== null, unwatched: liveness === 'alive' ? since(world, run, recorded, effort) : null }
  }
  const isWatched = !run.adopted && run.keeper !== null && isThere(run.keeper, world.processes)
  const now = countTokens(world, run.id, effort, isWatched)
  const session = now === null ? ended : addTokens(ended ?? NO_TOKENS, now.tokens)
  const unwatched = now === null || isWatched || run.adopted ? null : beyondWatched(world, run, now.tokens)
  return { run: now?.tokens ?? null, session, whole: now?.whole ?? false, unwatched }
}

type Unwatched = NonNullable<SessionView['tokens']>['unwatched']

/** Its keeper is gone: it is an orphan, and all since is burned for nobody. */
function beyondWatched(world: Pick<World, 'usageFiles'>, run: Run, now: Tokens): Unwatched {
  const last = lastWatched(world, run.id) ?? { at: run.startedAt, tokens: NO_TOKENS }
  return { since: last.at, tokens: tokensBeyond(now, last.tokens) }
}

/** Its run is over on record, and yet it lives. */
function since(world: World, run: Run, recorded: Tokens | null, effort: Effort): Unwatched {
  const now = countTokens(world, run.id, effort, false)
  return now === null || isLive(run) ? null : { since: run.endedAt, tokens: tokensBeyond(now.tokens, recorded ?? NO_TOKENS) }
}
