import { isThere } from '../act/index.ts'
import type { Run, Store, Tokens } from '../model/index.ts'
import { addTokens, isLive, NO_TOKENS, tokensBeyond } from '../model/index.ts'
import type { Sight } from '../show/index.ts'
import { lastWatched, tokensOf, watched } from './usage.ts'
import type { World } from './world.ts'

/** The same sights, with what their agents say they have burned: in this run, in all runs of the session, and since nobody watches it. */
export async function withTokens(world: World, store: Store, sights: readonly Sight[]): Promise<Sight[]> {
  const sessions = sights.flatMap(({ session }) => (session.harness === null ? [] : [session.id]))
  if (sessions.length === 0) return [...sights]
  const before = await store.spent(sessions)
  return sights.map((sight) =>
    sight.session.harness === null ? sight : { ...sight, tokens: tokensOfSight(world, sight, before.get(sight.session.id) ?? null) },
  )
}

function tokensOfSight(world: World, { run, liveness }: Sight, ended: Tokens | null): NonNullable<Sight['tokens']> {
  if (!isLive(run)) {
    const recorded = run.usage?.tokens ?? null
    return { run: recorded, session: ended, unwatched: liveness === 'alive' ? since(world, run, recorded) : null }
  }
  const now = tokensOf(world, run.id)
  return { run: now, session: sum(ended, now), unwatched: now === null ? null : unwatched(world, run, now) }
}

const sum = (one: Tokens | null, other: Tokens | null): Tokens | null =>
  one === null && other === null ? null : addTokens(one ?? NO_TOKENS, other ?? NO_TOKENS)

/** Its keeper is there: then it is watched, and that is remembered. Else it is an orphan, and all since is burned for nobody. */
function unwatched(world: World, run: Run, now: Tokens): NonNullable<Sight['tokens']>['unwatched'] {
  if (run.adopted) return null
  if (run.keeper !== null && isThere(run.keeper, world.processes)) {
    watched(world, run.id, now)
    return null
  }
  const last = lastWatched(world, run.id) ?? { at: run.startedAt, tokens: NO_TOKENS }
  return { since: last.at, tokens: tokensBeyond(now, last.tokens) }
}

/** Its run is over on record, and yet it lives. */
function since(world: World, run: Run, recorded: Tokens | null): NonNullable<Sight['tokens']>['unwatched'] {
  const now = tokensOf(world, run.id)
  return now === null || isLive(run) ? null : { since: run.endedAt, tokens: tokensBeyond(now, recorded ?? NO_TOKENS) }
}
